/** Where the cards and arrows of a graph stand. */

import dagre from "@dagrejs/dagre";
import type { Link, Point as Said } from "./statements";
import { relationName } from "./words";

export const CARD = { width: 272, head: 56, row: 42, rest: 10 };
/** The most cards that can be taken in. */
export const MOST = 12;
const LABEL = { height: 26, letter: 7.5, padding: 18 };

export interface Point {
  x: number;
  y: number;
}

export interface Arrow {
  link: Link;
  points: Point[];
  label: Point;
}

export interface Box extends Point {
  height: number;
}

export interface Layout {
  /** The middle of each card and its height, by passage. */
  cards: Map<string, Box>;
  arrows: Arrow[];
  width: number;
  height: number;
}

/** The relations between different passages, those that have most of them. */
export function shownLinks(links: Link[]): Link[] {
  const apart = links.filter(({ from, to }) => from !== to);
  const count = new Map<string, number>();
  for (const id of apart.flatMap(({ from, to }) => [from, to])) count.set(id, (count.get(id) ?? 0) + 1);
  const ids = new Set([...count.keys()].sort((a, b) => (count.get(b) ?? 0) - (count.get(a) ?? 0)).slice(0, MOST));
  return apart.filter(({ from, to }) => ids.has(from) && ids.has(to));
}

const heightOf = (points: Said[], id: string): number =>
  CARD.head + CARD.rest + CARD.row * points.filter(({ chunks, says }) => says && chunks.includes(id)).length;

/** Cards in layers along the relations; arrows run around cards, and labels have a place of their own. */
export function layOut(points: Said[], links: Link[]): Layout {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 40, ranksep: 34, edgesep: 24, marginx: 16, marginy: 16 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const id of new Set(links.flatMap(({ from, to }) => [from, to]))) {
    graph.setNode(id, { width: CARD.width, height: heightOf(points, id) });
  }
  links.forEach(({ from, to, relation }, at) => {
    const width = relationName(relation).length * LABEL.letter + LABEL.padding;
    graph.setEdge(from, to, { width, height: LABEL.height, labelpos: "c" }, String(at));
  });
  dagre.layout(graph);
  const cards = new Map(
    graph.nodes().map((id) => {
      const { x = 0, y = 0, height = 0 } = graph.node(id);
      return [id, { x, y, height }];
    }),
  );
  const arrows = links.map((link, at) => {
    const { points: bends = [], x = 0, y = 0 } = graph.edge(link.from, link.to, String(at));
    return { link, points: bends, label: { x, y } };
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
