/** Where the parts of an RST tree stand when it is drawn as linguists draw it. */

import type { Chunk, RstTree, Span, Split, UnitKind } from "../api/types";
import { CodeText } from "./text";

export const COLUMN = 156;
export const GAP = 16;
const LEVEL = 66;
const TOP = 24;
const LINE = 24;
const MOST_LINES = 9;

export interface TreeNode {
  key: string;
  start: number;
  end: number;
  split: Split | null;
  children: TreeNode[];
  depth: number;
  collapsed: boolean;
  left: number;
  right: number;
  /** Where its line from above arrives: over its nucleus, so that nuclei stand straight below each other. */
  anchor: number;
  y: number;
}

export const keyOf = (start: number, end: number): string => `${start}-${end}`;

/** Kinds of lines that are no units of discourse. */
const APART = new Set<UnitKind>(["heading", "header", "code", "reference", "formula", "furniture"]);
const BARE = /^[\s\p{P}\p{S}]*(?:[a-z][a-z0-9+.-]*:\/\/\S+[\s\p{P}\p{S}]*)*$/iu;

/** The tree without headings, links, code and the like: a node that loses one side is its other side. */
export function readable(chunk: Chunk, tree: RstTree): RstTree {
  const text = new CodeText(chunk.text);
  const isUnit = (edu: Span): boolean => {
    const at = chunk.sentences.findIndex((sentence) => sentence.start <= edu.start && edu.start < sentence.end);
    const kind = chunk.kinds[at];
    return !(kind && APART.has(kind)) && !BARE.test(text.slice(edu.start - chunk.span.start, edu.end - chunk.span.start));
  };
  const kept = tree.edus.map(isUnit);
  /** How many units are kept before each one. */
  const before = kept.reduce<number[]>((sums, keep) => [...sums, (sums.at(-1) ?? 0) + Number(keep)], [0]);
  const now = (at: number): number => before[at] ?? 0;
  const splits = tree.splits
    .map((split) => ({ ...split, start: now(split.start), mid: now(split.mid), end: now(split.end) }))
    .filter(({ start, mid, end }) => start < mid && mid < end);
  return { edus: tree.edus.filter((_, i) => kept[i]), splits };
}

function parentsFirst(tree: RstTree): { split: Split; depth: number }[] {
  const depths = new Map([[keyOf(0, tree.edus.length), 0]]);
  return tree.splits.map((split) => {
    const depth = depths.get(keyOf(split.start, split.end)) ?? 0;
    depths.set(keyOf(split.start, split.mid), depth + 1);
    depths.set(keyOf(split.mid, split.end), depth + 1);
    return { split, depth };
  });
}

/** What is closed at first: nothing of a small tree, of others what lies deep. */
export function closedAtFirst(tree: RstTree): Set<string> {
  if (tree.edus.length <= 12) return new Set();
  const most = window.innerWidth < 500 ? 2 : 4;
  const deep = parentsFirst(tree).filter(({ depth }) => depth >= most);
  return new Set(deep.map(({ split }) => keyOf(split.start, split.end)));
}

function anchorOf(split: Split, [left, right]: TreeNode[]): number {
  if (!left || !right) return 0;
  if (split.nuclearity === "NS") return left.anchor;
  return split.nuclearity === "SN" ? right.anchor : (left.anchor + right.anchor) / 2;
}

/** The nodes that show, parents first, and the width of the drawing. */
export function layOut(tree: RstTree, closed: ReadonlySet<string>): { nodes: TreeNode[]; width: number } {
  const splits = new Map(tree.splits.map((split) => [keyOf(split.start, split.end), split]));
  const nodes: TreeNode[] = [];
  let x = GAP;
  const place = (start: number, end: number, depth: number): TreeNode => {
    const key = keyOf(start, end);
    const split = splits.get(key) ?? null;
    const collapsed = split !== null && closed.has(key);
    const node: TreeNode = {
      key, start, end, split, depth, collapsed, children: [], left: x, right: x + COLUMN, anchor: x + COLUMN / 2, y: TOP + depth * LEVEL,
    };
    nodes.push(node);
    if (!split || collapsed) {
      x += COLUMN + GAP;
      return node;
    }
    node.children = [place(start, split.mid, depth + 1), place(split.mid, end, depth + 1)];
    node.right = node.children[1]?.right ?? node.right;
    node.anchor = anchorOf(split, node.children);
    return node;
  };
  place(0, tree.edus.length, 0);
  return { nodes, width: x };
}

const wide = (c: string): boolean => /[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uff00-\uff60]|\p{Extended_Pictographic}/u.test(c);
const widthOf = (text: string): number => [...text].reduce((sum, c) => sum + (wide(c) ? 2 : 1), 0);

function broken(word: string): string[] {
  const parts = [""];
  for (const c of word) {
    if (widthOf((parts.at(-1) ?? "") + c) > LINE) parts.push("");
    parts[parts.length - 1] += c;
  }
  return parts;
}

/** A text in lines of a column's width. */
export function wrapped(text: string): string[] {
  const lines = [""];
  const words = text.split(/\s+/).filter(Boolean).flatMap(broken);
  for (const word of words) {
    const last = lines.at(-1) ?? "";
    if (!last) lines[lines.length - 1] = word;
    else if (widthOf(last) + 1 + widthOf(word) <= LINE) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  if (lines.length <= MOST_LINES) return lines;
  return [...lines.slice(0, MOST_LINES - 1), `${lines[MOST_LINES - 1]?.slice(0, LINE - 1)}…`];
}
