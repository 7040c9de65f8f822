import type { Edge } from "../../api/types";
import { CARD, joints, type Joint } from "../../lib/layout";
import type { Picture } from "../../lib/save";
import { shortened } from "../../lib/text";
import { relationName, tone } from "../../lib/words";
import type { CardNode } from "./Card";

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text: string): string =>
  text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "").replace(/[&<>"]/g, (c) => ENTITIES[c] ?? c);

const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function line(edge: Edge, { from, to, label }: Joint): string {
  const turn = (Math.atan2(to.y - from.y, to.x - from.x) * 180) / Math.PI;
  const stroke = colour({ odds: "--odds", backs: "--backs", plain: "--line-strong" }[tone(edge.relation)]);
  const said = escaped(relationName(edge.relation));
  const halo = `stroke="${colour("--ground")}" stroke-width="4" paint-order="stroke"`;
  return (
    `<path d="M${from.x} ${from.y}L${to.x} ${to.y}" stroke="${stroke}" stroke-width="1.5"/>` +
    `<path d="M-9 -5L0 0L-9 5Z" fill="${stroke}" transform="translate(${to.x} ${to.y}) rotate(${turn})"/>` +
    `<text x="${label.x}" y="${label.y + 4}" font-size="11" text-anchor="middle" fill="${stroke}" ${halo}>${said}</text>`
  );
}

function card({ position: { x, y }, data }: CardNode): string {
  const title = escaped(shortened(data.title, 28));
  return (
    `<rect x="${x}" y="${y}" width="${CARD.width}" height="${CARD.height}" rx="6" fill="${colour("--panel")}" stroke="${colour("--line-strong")}"/>` +
    `<text x="${x + 12}" y="${y + 26}" font-size="13" font-weight="600" fill="${colour("--text")}">${data.number}. ${title}</text>` +
    `<text x="${x + 12}" y="${y + 50}" font-size="11" fill="${colour("--quiet")}">${escaped(shortened(data.text, 36))}</text>`
  );
}

/** The graph as a picture of its own. */
export function drawing(nodes: CardNode[], edges: Edge[]): Picture {
  const places = new Map(nodes.map((node) => [node.id, node.position]));
  const left = Math.min(...nodes.map((n) => n.position.x)) - 40;
  const top = Math.min(...nodes.map((n) => n.position.y)) - 60;
  const width = Math.max(...nodes.map((n) => n.position.x)) + CARD.width + 40 - left;
  const height = Math.max(...nodes.map((n) => n.position.y)) + CARD.height + 60 - top;
  const lines = [...joints(edges, places, true)].map(([edge, arrow]) => line(edge, arrow));
  const ground = `<rect x="${left}" y="${top}" width="${width}" height="${height}" fill="${colour("--ground")}"/>`;
  const head = `xmlns="http://www.w3.org/2000/svg" viewBox="${left} ${top} ${width} ${height}" width="${width}" height="${height}"`;
  const text = `<svg ${head} font-family="Inter, sans-serif">${ground}${nodes.map(card).join("")}${lines.join("")}</svg>`;
  return { text, width, height };
}
