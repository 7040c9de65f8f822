import dagre from "@dagrejs/dagre";
import type { Edge } from "../api/types";

export const CARD = { width: 240, height: 104 };
/** More passages than this stand in rows: to find layers for them takes longer than looking at them. */
const LAYERED = 80;
const GAP = { x: 96, y: 48 };

export interface Point {
  x: number;
  y: number;
}

function inRows(ids: string[]): Map<string, Point> {
  const across = Math.ceil(Math.sqrt(ids.length / 1.6));
  return new Map(
    ids.map((id, i) => [
      id,
      { x: (i % across) * (CARD.width + GAP.x), y: Math.floor(i / across) * (CARD.height + GAP.y) },
    ]),
  );
}

/** Enough edges to join what can be joined, conflicts first: all of them would make one long column. */
function spanning(edges: Edge[]): Edge[] {
  const group = new Map<string, string>();
  const root = (id: string): string => {
    const above = group.get(id);
    return above === undefined ? id : root(above);
  };
  return [...edges]
    .sort((a, b) => Number(Boolean(b.reason)) - Number(Boolean(a.reason)))
    .filter(({ source, target }) => {
      const [a, b] = [root(source), root(target)];
      if (a !== b) group.set(a, b);
      return a !== b;
    });
}

/** Where the cards stand: in layers along the relations, or in rows. */
export function placed(ids: string[], edges: Edge[]): Map<string, Point> {
  if (ids.length > LAYERED) return inRows(ids);
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 150, ranksep: 100, marginx: 24, marginy: 24 });
  graph.setDefaultEdgeLabel(() => ({}));
  ids.forEach((id) => graph.setNode(id, { ...CARD }));
  spanning(edges).forEach((edge) => graph.setEdge(edge.source, edge.target));
  dagre.layout(graph);
  return new Map(
    ids.map((id) => {
      const { x = 0, y = 0 } = graph.node(id);
      return [id, { x: x - CARD.width / 2, y: y - CARD.height / 2 }];
    }),
  );
}

/** How far an arrow stands beside the line between the centres, so that two of opposite directions stay apart. */
const ASIDE = 12;

/** Where the line from a point inside a card, given by its corner, leaves it. */
function exit(corner: Point, inside: Point, towards: Point): Point {
  const [dx, dy] = [towards.x - inside.x, towards.y - inside.y];
  const across = dx ? (corner.x + (dx > 0 ? CARD.width : 0) - inside.x) / dx : Infinity;
  const down = dy ? (corner.y + (dy > 0 ? CARD.height : 0) - inside.y) / dy : Infinity;
  const share = Math.min(across, down, 1);
  return { x: inside.x + dx * share, y: inside.y + dy * share };
}

/** An arrow, and where its label stands. */
export interface Joint {
  from: Point;
  to: Point;
  label: Point;
}

/** The arrow between two cards, given by their corners. */
function joint(a: Point, b: Point): Joint {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const length = Math.hypot(dx, dy) || 1;
  const aside = { x: (-dy / length) * ASIDE, y: (dx / length) * ASIDE };
  const inside = (p: Point): Point => ({ x: p.x + CARD.width / 2 + aside.x, y: p.y + CARD.height / 2 + aside.y });
  const from = exit(a, inside(a), inside(b));
  const to = exit(b, inside(b), inside(a));
  return { from, to, label: along(from, to, 0.45) };
}

const LABEL = { width: 116, height: 20 };
const SHARES = [0.45, 0.35, 0.55, 0.25, 0.65, 0.18, 0.75, 0.84];

const along = (from: Point, to: Point, share: number): Point => ({
  x: from.x + (to.x - from.x) * share,
  y: from.y + (to.y - from.y) * share,
});

interface Box extends Point {
  width: number;
  height: number;
}

const meet = (a: Box, b: Box): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

const labelBox = ({ x, y }: Point): Box => ({ x: x - LABEL.width / 2, y: y - LABEL.height / 2, ...LABEL });

/** The arrow of each edge; labels keep clear of cards and of each other where the arrow has room for that. */
export function joints(edges: Edge[], places: ReadonlyMap<string, Point>, labelled: boolean): Map<Edge, Joint> {
  const taken: Box[] = labelled ? [...places.values()].map((place) => ({ x: place.x, y: place.y, ...CARD })) : [];
  const found = new Map<Edge, Joint>();
  for (const edge of edges) {
    const [a, b] = [places.get(edge.source), places.get(edge.target)];
    if (!a || !b) continue;
    const arrow = joint(a, b);
    const points = labelled ? SHARES.map((share) => along(arrow.from, arrow.to, share)) : [];
    const label = points.find((point) => !taken.some((box) => meet(box, labelBox(point)))) ?? arrow.label;
    if (labelled) taken.push(labelBox(label));
    found.set(edge, { ...arrow, label });
  }
  return found;
}
