import type { Chunk, Span } from "../api/types";

/** A text by Unicode code points, as spans count; JavaScript's own indices count UTF-16 units. */
export class CodeText {
  private readonly wide: number[] = [];
  readonly length: number;

  constructor(readonly text: string) {
    let at = 0;
    for (let i = 0; i < text.length; i += 1, at += 1) {
      const code = text.charCodeAt(i);
      if (code >= 0xd800 && code < 0xdc00 && i + 1 < text.length) {
        this.wide.push(at);
        i += 1;
      }
    }
    this.length = at;
  }

  /** The UTF-16 index of a code point. */
  index(point: number): number {
    return point + below(this.wide, point);
  }

  /** The code point at a UTF-16 index. */
  point(index: number): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (this.index(mid) < index) low = mid + 1;
      else high = mid;
    }
    return low;
  }

  slice(start: number, end: number): string {
    return this.text.slice(this.index(start), this.index(end));
  }

  of(span: Span): string {
    return this.slice(span.start, span.end);
  }
}

function below(sorted: number[], value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if ((sorted[mid] as number) < value) low = mid + 1;
    else high = mid;
  }
  return low;
}

export interface Mark {
  span: Span;
  kind: string;
}

export interface Piece {
  start: number;
  text: string;
  kinds: string[];
}

/** The text between `from` and `to` cut at the marks' ends; pieces name the kinds of mark that cover them. */
export function pieces(text: CodeText, marks: Mark[], from = 0, to = text.length): Piece[] {
  const inside = marks.filter((m) => m.span.end > from && m.span.start < to);
  const begins = new Map<number, string[]>();
  const ends = new Map<number, string[]>();
  const note = (where: Map<number, string[]>, at: number, kind: string) => where.set(at, [...(where.get(at) ?? []), kind]);
  for (const { span, kind } of inside) {
    note(begins, Math.max(from, span.start), kind);
    note(ends, Math.min(to, span.end), kind);
  }
  const cuts = [...new Set([from, to, ...begins.keys(), ...ends.keys()])].sort((a, b) => a - b);
  const open = new Map<string, number>();
  return cuts.slice(0, -1).map((start, i) => {
    ends.get(start)?.forEach((kind) => open.set(kind, (open.get(kind) ?? 0) - 1));
    begins.get(start)?.forEach((kind) => open.set(kind, (open.get(kind) ?? 0) + 1));
    const kinds = [...open].filter(([, count]) => count > 0).map(([kind]) => kind);
    return { start, text: text.slice(start, cuts[i + 1] as number), kinds };
  });
}

export const overlap = (a: Span, b: Span): boolean => a.start < b.end && b.start < a.end;

export const shorten = (text: string, most: number): string =>
  [...text].length <= most ? text : `${[...text].slice(0, most).join("").trimEnd()}…`;

/** `text` as a regular expression that finds nothing else. */
export const escapePattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Where a passage stands in a text, however its white space was copied; null if it does not. */
export function findPassage(text: CodeText, passage: string): Span | null {
  const words = passage.trim().split(/\s+/).filter(Boolean);
  if (!words.length) return null;
  const pattern = words.map(escapePattern).join("\\s+");
  const found = new RegExp(pattern, "iu").exec(text.text);
  if (!found) return null;
  return { start: text.point(found.index), end: text.point(found.index + found[0].length) };
}

const WORD = /[\p{L}\p{N}]+/gu;
/** So large a part of a paraphrase's words has to be in the sentence that it means. */
const MEANT = 0.5;

const stems = (text: string): Set<string> =>
  new Set((text.toLowerCase().match(WORD) ?? []).filter((word) => word.length > 3 || /\p{N}/u.test(word)).map((word) => word.slice(0, 6)));

/** The sentence that shares most words with a paraphrase; null if none shares half of them. */
export function closestSentence(text: CodeText, chunks: Chunk[], paraphrase: string): Span | null {
  const wanted = stems(paraphrase);
  let best: Span | null = null;
  let most = MEANT;
  for (const span of chunks.flatMap((chunk) => chunk.sentences)) {
    const own = stems(text.of(span));
    const shared = [...wanted].filter((stem) => own.has(stem)).length / Math.max(1, wanted.size);
    if (shared > most || (shared === most && !best)) [best, most] = [span, shared];
  }
  return best;
}

/** The text without the hyphens that break words at the ends of lines. */
export const unwrap = (text: string): string => text.replace(/[\u2010\u00ad]\n\s*/g, "");
