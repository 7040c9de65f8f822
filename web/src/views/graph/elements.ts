import { MarkerType, Position } from "@xyflow/react";
import type { AnswerSentence, Edge, Reply, RhetoricalGraph } from "../../api/types";
import { CARD, joints, type Point } from "../../lib/layout";
import { shortened } from "../../lib/text";
import { relationName, tone } from "../../lib/words";
import type { Passages } from "../../state/usePassages";
import type { CardNode } from "./Card";
import type { RelationLine } from "./Relation";

export const edgeId = (edge: Edge): string => `${edge.source} ${edge.target}`;

const COLOURS = { odds: "var(--odds)", backs: "var(--backs)", plain: "var(--line-strong)" };
/** More relations than this are drawn together; those of the selected passage still stand out, with their labels. */
const CROWD = 120;

export const isCrowd = (edges: Edge[]): boolean => edges.length > CROWD;

/** The relations that are drawn as elements of their own. */
export function distinct(edges: Edge[], selected: string): Edge[] {
  if (!isCrowd(edges)) return edges;
  return edges.filter((e) => e.source === selected || e.target === selected || edgeId(e) === selected);
}

const HANDLES = [
  { type: "target" as const, position: Position.Top, x: CARD.width / 2, y: 0, width: 1, height: 1 },
  { type: "source" as const, position: Position.Bottom, x: CARD.width / 2, y: CARD.height, width: 1, height: 1 },
];

export interface Lights {
  told: ReadonlySet<string>;
  /** Those of the selected sentence. */
  lit: ReadonlySet<string>;
}

export function lightsOf(result: Reply, at: number | null): Lights {
  const chunks = (sentences: AnswerSentence[]) => new Set(sentences.flatMap((s) => s.evidence.map((e) => e.chunk_id)));
  const { sentences } = result.answer;
  return { told: chunks(sentences), lit: chunks(at === null ? [] : sentences.slice(at, at + 1)) };
}

export function nodesOf(
  graph: RhetoricalGraph,
  places: Map<string, Point>,
  passages: Passages,
  { told, lit }: Lights,
): CardNode[] {
  return graph.chunks.map((id, i) => {
    const chunk = passages.get(id);
    const title = chunk?.title || `Passage ${i + 1}`;
    return {
      id,
      type: "card",
      position: places.get(id) ?? { x: 0, y: 0 },
      ...CARD,
      measured: CARD,
      handles: HANDLES,
      ariaLabel: `Passage ${i + 1}: ${title}`,
      data: { number: i + 1, title, text: shortened(chunk?.text.replace(/\s+/g, " ") ?? "", 90), told: told.has(id), lit: lit.has(id) },
    };
  });
}

/** Only the node that changes is a new object, so that only it is drawn again. */
export const withSelected = (nodes: CardNode[], selected: string): CardNode[] =>
  nodes.map((node) => (node.id === selected ? { ...node, selected: true } : node));

export function linesOf(graph: RhetoricalGraph, edges: Edge[], places: Map<string, Point>, selected: string): RelationLine[] {
  const labelled = !isCrowd(edges);
  const numbers = new Map(graph.chunks.map((id, i) => [id, i + 1]));
  return [...joints(edges, places, labelled)].map(([edge, joint]) => {
    const id = edgeId(edge);
    const chosen = id === selected;
    const color = COLOURS[tone(edge.relation)];
    return {
      id,
      type: "relation" as const,
      data: { joint },
      source: edge.source,
      target: edge.target,
      selected: chosen,
      label: labelled || chosen ? relationName(edge.relation) : undefined,
      className: `line line-${tone(edge.relation)}`,
      markerEnd: { type: MarkerType.ArrowClosed, color, width: 18, height: 18 },
      style: { stroke: color, strokeWidth: chosen ? 3 : 1.5 },
      ariaLabel: `Passage ${numbers.get(edge.source)} ${relationName(edge.relation)} passage ${numbers.get(edge.target)}`,
    };
  });
}
