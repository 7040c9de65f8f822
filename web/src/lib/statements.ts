/** What the passages of an answer say, and how it relates: statements, and further sentences that the graph relates. */

import type { Edge, Quotation, Reply, Span, StatementRole } from "../api/types";
import { overlap } from "./text";
import type { Passages } from "../state/usePassages";

export interface Point {
  id: string;
  /** The statement's; null for a sentence or passage that is no statement of the answer. */
  number: number | null;
  says: string;
  role: StatementRole | null;
  /** The passages that make it, by chunk id; it is drawn in each of them. */
  chunks: string[];
  quotations: Quotation[];
}

export interface Link {
  id: string;
  source: Point;
  target: Point;
  relation: string;
  about: string;
  /** The passages that it joins in the drawing, by chunk id. */
  from: string;
  to: string;
}

export interface PointGraph {
  points: Point[];
  links: Link[];
}

/** Passages that make two points: different ones, if there are. */
function apart(source: Point, target: Point): [string, string] {
  for (const from of source.chunks) for (const to of target.chunks) if (from !== to) return [from, to];
  return [source.chunks[0] ?? "", target.chunks[0] ?? ""];
}

function linkOf(source: Point, target: Point, relation: string, about: string): Link {
  const [from, to] = apart(source, target);
  return { id: `${source.id} ${relation} ${target.id}`, source, target, relation, about, from, to };
}

function ofStatements({ answer }: Reply): PointGraph {
  const points = (answer.statements?.statements ?? []).map(({ number, says, role, quotations }): Point => {
    const chunks = [...new Set(quotations.map(({ chunk_id }) => chunk_id))];
    return { id: `statement ${number}`, number, says, role, chunks, quotations };
  });
  const links = (answer.statements?.relations ?? []).flatMap(({ source, relation, target, about }) => {
    const [one, other] = [source, target].map((n) => points.find(({ number }) => number === n));
    return one && other ? [linkOf(one, other, relation, about)] : [];
  });
  return { points, links };
}

/** The sentence of a passage, or the passage if no sentence is given. */
function pointAt(chunk: string, span: Span | null, result: Reply, passages: Passages): Point {
  const found = passages.get(chunk);
  if (!span) return { id: chunk, number: null, says: "", role: null, chunks: [chunk], quotations: [] };
  const start = span.start - (found?.span.start ?? 0);
  const text = found ? [...found.text].slice(start, start + span.end - span.start).join("") : "";
  const quotation = { passage: passageNumber(result, chunk), chunk_id: chunk, text, spans: [span], title: found?.title ?? "" };
  return { id: `${chunk} ${span.start}`, number: null, says: text, role: null, chunks: [chunk], quotations: [quotation] };
}

const quotes = (point: Point, chunk: string, span: Span | null): boolean =>
  point.quotations.some((q) => span !== null && q.chunk_id === chunk && q.spans.some((own) => overlap(own, span)));

/** Whether a relation between statements already joins the passages of an edge. */
const joins = ({ source, target }: Link, edge: Edge): boolean =>
  (source.chunks.includes(edge.source) && target.chunks.includes(edge.target)) ||
  (source.chunks.includes(edge.target) && target.chunks.includes(edge.source));

/** The statements of an answer with their relations, and the relations that the graph has between other sentences. */
export function pointGraph(result: Reply, passages: Passages): PointGraph {
  const { points, links } = ofStatements(result);
  const own = [...links];
  const end = (chunk: string, span: Span | null): Point => {
    const made = pointAt(chunk, span, result, passages);
    const known = points.find((point) => point.id === made.id || quotes(point, chunk, span));
    if (!known) points.push(made);
    return known ?? made;
  };
  for (const edge of result.graph?.edges ?? []) {
    if (own.some((link) => joins(link, edge))) continue;
    links.push(linkOf(end(edge.source, edge.source_span), end(edge.target, edge.target_span), edge.relation, edge.reason));
  }
  return { points, links };
}

/** The number of a passage among those that were read, from 1; 0 if it is not known. */
export function passageNumber({ graph, answer }: Reply, chunk: string): number {
  const quoted = answer.statements?.statements.flatMap(({ quotations }) => quotations);
  return (graph?.chunks.indexOf(chunk) ?? -1) + 1 || (quoted?.find((q) => q.chunk_id === chunk)?.passage ?? 0);
}

/** How a point is named: by its number, or by its passage. */
export const pointName = (result: Reply, { number, chunks: [chunk = ""] }: Point): string =>
  number === null ? `passage ${passageNumber(result, chunk)}` : `statement ${number}`;
