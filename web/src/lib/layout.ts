/** Where the cards and arrows of a rhetorical graph stand. */

import dagre from "@dagrejs/dagre";
import type { Edge, RhetoricalGraph } from "../api/types";
import { relationName } from "./words";

export const CARD = { width: 248, height: 92 };
/** The most cards that can be taken in. */
export const MOST = 12;
const LABEL = { height: 26, letter: 7.5, padding: 18 };

export interface Point {
  x: number;
  y: number;
}

export interface Arrow {
  edge: Edge;
  points: Point[];
  label: Point;
}

export interface Layout {
  /** The middle of each card, by passage. */
  cards: Map<string, Point>;
  arrows: Arrow[];
  width: number;
  height: number;
}

/** Relations that have a sentence on each side, between the passages that have most of them. */
export function shownEdges(graph: RhetoricalGraph): Edge[] {
  const exact = graph.edges.filter((edge) => edge.source_span && edge.target_span);
  const count = (id: string) => exact.filter((edge) => edge.source === id || edge.target === id).length;
  const ids = new Set([...graph.chunks].sort((a, b) => count(b) - count(a)).slice(0, MOST));
  return exact.filter((edge) => ids.has(edge.source) && ids.has(edge.target));
}

/** Cards in layers along the relations; arrows run around cards, and labels have a place of their own. */
export function layOut(edges: Edge[]): Layout {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 40, ranksep: 34, edgesep: 24, marginx: 16, marginy: 16 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const id of new Set(edges.flatMap(({ source, target }) => [source, target]))) graph.setNode(id, { ...CARD });
  edges.forEach((edge, at) => {
    const width = relationName(edge.relation).length * LABEL.letter + LABEL.padding;
    graph.setEdge(edge.source, edge.target, { width, height: LABEL.height, labelpos: "c" }, String(at));
  });
  dagre.layout(graph);
  const cards = new Map(graph.nodes().map((id) => [id, { x: graph.node(id).x ?? 0, y: graph.node(id).y ?? 0 }]));
  const arrows = edges.map((edge, at) => {
    const { points = [], x = 0, y = 0 } = graph.edge(edge.source, edge.target, String(at));
    return { edge, points, label: { x, y } };
  });
  const { width = 0, height = 0 } = graph.graph();
  return { cards, arrows, width, height };
}

/** The way of an arrow, its bends rounded. */
export function pathOf(points: Point[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  const last = rest.at(-1) ?? first;
  const bends = rest.slice(0, -1).map((point, i) => {
    const next = rest[i + 1] ?? last;
    const end = i === rest.length - 2 ? last : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 };
    return `Q${point.x} ${point.y} ${end.x} ${end.y}`;
  });
  return `M${first.x} ${first.y}${bends.join("") || `L${last.x} ${last.y}`}`;
}
