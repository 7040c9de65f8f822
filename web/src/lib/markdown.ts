/** How a document in Markdown is shown: its blocks, and how characters in them are set. Offsets stay those of the text. */

import type { Markup } from "../api/types";
import type { CodeText, Mark } from "./text";

const FENCE = /^ {0,3}(```|~~~)/;
const HEADING = /^ {0,3}(#{1,6})[ \t]+(?=\S)/;
const UNDERLINE = /^ {0,3}(=+|-{3,}) *$/;
const RULE = /^ {0,3}([-*_])(?: *\1){2,} *$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( *)([-*+]|\d{1,3}[.)]) +(?=\S)/;
const ROW = /^\s*\|.*\|\s*$/;
const DASHES = /^[\s|:-]+$/;
/** Where a link leads; `[x]: word` and footnotes stay, they may be cited. */
const DEFINITION = /^ {0,3}\[(?!\^)[^\]\n]+\]: *<?(?:[a-z][a-z+.-]+:\S|\.{0,2}\/|#[a-z])\S*(?: +["'(].*)?$/i;
// Bounded, or unclosed marks would take quadratic time.
const CODE = /(`+)(?!`)([^]{1,1000}?)(?<!`)\1(?!`)/g;
const STRONG = /(\*\*|__)(?=\S)([^]{1,1000}?)(?<=\S)\1/g;
const EMPHASIS = /(?<![\w*])([*_])(?=[^\s*_])([^*_]+?)(?<=[^\s*_])\1(?![\w*])/g;
const LINK = /(!?\[)([^[\]]*)(\](?:\([^()\s]*(?: "[^"\n]*")?\)|\[[^\]\n]*\]))/g;
const ESCAPE = /\\(?=[!-/:-@[-`{-~])/g;

export type Kind = "plain" | "text" | "heading" | "item" | "quote" | "code" | "row" | "rule";

/** A stretch of a document that stands by itself; `hidden` are its marks, which are not shown. */
export interface Block {
  kind: Kind;
  /** Of a heading 1 to 6; of a list's item how deep it lies. */
  level: number;
  /** A list's bullet or number. */
  marker: string;
  /** UTF-16 indices. */
  from: number;
  to: number;
  hidden: [number, number][];
}

const block = (kind: Kind, from: number, to: number, more: Partial<Block> = {}): Block => ({
  kind, level: 0, marker: "", from, to, hidden: [], ...more,
});

/** The block that a line begins, unless it continues the one before. */
function begun(line: string, at: number): Block | null {
  const to = at + line.length;
  const heading = HEADING.exec(line);
  if (heading) return block("heading", at + heading[0].length, to, { level: heading[1]?.length ?? 1 });
  if (RULE.test(line)) return block("rule", at, to);
  if (ROW.test(line)) return block("row", at, to);
  const item = ITEM.exec(line);
  if (item) {
    const [lead, indent = "", sign = ""] = item;
    return block("item", at + lead.length, to, { level: Math.min(4, indent.length >> 1), marker: /\d/.test(sign) ? sign : "•" });
  }
  const quote = QUOTE.exec(line);
  return quote && block("quote", at + quote[0].length, to);
}

const FLOWING = new Set<Kind>(["text", "item", "quote"]);

/** The blocks of a text in Markdown, in order. */
export function blocksOf(text: string): Block[] {
  const found: Block[] = [];
  let at = 0;
  let fence = "";
  let open: Block | undefined;
  const put = (next: Block | undefined) => {
    open = next;
    if (next) found.push(next);
  };
  for (const line of text.split("\n")) {
    const to = at + line.length;
    const mark = FENCE.exec(line)?.[1] ?? "";
    const quote = open?.kind === "quote" ? QUOTE.exec(line) : null;
    if (mark && (!fence || mark === fence)) {
      put(fence ? undefined : block("code", to + 1, to + 1));
      fence = fence ? "" : mark;
    } else if (fence && open) open.to = to;
    else if (!line.trim() || DEFINITION.test(line)) open = undefined;
    else if (open?.kind === "text" && UNDERLINE.test(line)) {
      Object.assign(open, { kind: "heading", level: line.includes("=") ? 1 : 2 });
      open = undefined;
    } else if (open && quote) {
      open.hidden.push([at, at + quote[0].length]);
      open.to = to;
    } else {
      const next = begun(line, at);
      if (next) put(next);
      else if (open && FLOWING.has(open.kind)) open.to = to;
      else put(block("text", at, to));
    }
    at = to + 1;
  }
  return found.filter(({ kind, from, to }) => to > from && !(kind === "row" && DASHES.test(text.slice(from, to))));
}

/** The cells of a table's row. */
export function cellsOf(text: string, row: Block): Block[] {
  const cells: Block[] = [];
  let from = text.indexOf("|", row.from) + 1;
  for (const bar of text.slice(from, row.to).matchAll(/(?<!\\)\|/g)) {
    const to = text.indexOf("|", row.from) + 1 + bar.index;
    cells.push(block("text", from, to));
    from = to + 1;
  }
  return cells;
}

interface Part {
  from: number;
  to: number;
  kind: string;
}

/** The ends of a match as marks, what stands between in `kind`. */
function between(match: RegExpMatchArray, at: number, open: number, close: number, kind: string): Part[] {
  const from = at + (match.index ?? 0);
  const to = from + match[0].length;
  return [
    { from, to: from + open, kind: "md-mark" },
    { from: from + open, to: to - close, kind },
    { from: to - close, to, kind: "md-mark" },
  ];
}

function inline(text: string, at: number): Part[] {
  const code = [...text.matchAll(CODE)];
  const bare = code.reduce((rest, m) => rest.slice(0, m.index) + "\0".repeat(m[0].length) + rest.slice(m.index + m[0].length), text);
  const size = (match: RegExpMatchArray, group: number): number => match[group]?.length ?? 0;
  return [
    ...code.flatMap((m) => between(m, at, size(m, 1), size(m, 1), "md-code")),
    ...[...bare.matchAll(STRONG)].flatMap((m) => between(m, at, 2, 2, "md-strong")),
    ...[...bare.matchAll(EMPHASIS)].flatMap((m) => between(m, at, 1, 1, "md-emphasis")),
    ...[...bare.matchAll(LINK)].flatMap((m) => between(m, at, size(m, 1), size(m, 3), "md-link")),
    ...[...bare.matchAll(ESCAPE)].map((m) => ({ from: at + m.index, to: at + m.index + 1, kind: "md-mark" })),
  ];
}

/** The blocks of a document; a plain text is one. */
export const shownBlocks = (text: CodeText, markup: Markup): Block[] =>
  markup === "none" ? [block("plain", 0, text.text.length)] : blocksOf(text.text);

/** How the characters of a block are set, `md-` and a word; of `md-mark` nothing is shown. */
export function settingOf(text: CodeText, { kind, from, to, hidden }: Block, markup: Markup): Mark[] {
  const words = markup === "inline" && kind !== "code" ? inline(text.text.slice(from, to), from) : [];
  const marks = hidden.map(([start, end]) => ({ from: start, to: end, kind: "md-mark" }));
  return [...words, ...marks].map((part) => ({ span: { start: text.point(part.from), end: text.point(part.to) }, kind: part.kind }));
}
