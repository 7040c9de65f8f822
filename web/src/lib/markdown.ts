/** How a document in Markdown looks: every character stays where it is, so that offsets hold; nothing is made of it. */

import type { CodeText, Mark } from "./text";

const FENCE = /^ {0,3}(```|~~~)/;
const HEADING = /^ {0,3}(#{1,6}) +\S/;
const UNDERLINE = /^ {0,3}(=+|-{3,}) *$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^ *(?:[-*+]|\d{1,3}[.)]) +(?=\S)/;
const CODE = /(`+)(?!`)(.+?)(?<!`)\1(?!`)/g;
const STRONG = /(\*\*|__)(?=\S)([^\n]+?)(?<=\S)\1/g;
const EMPHASIS = /(?<![\w*])([*_])(?=[^\s*_])([^\n*_]+?)(?<=[^\s*_])\1(?![\w*])/g;
const LINK = /(!?\[)([^[\]\n]*)(\]\([^()\s]*(?: "[^"\n]*")?\))/g;

interface Part {
  from: number;
  to: number;
  kind: string;
}

/** Both ends of a match in the quiet kind, what stands between in `kind`. */
function between(match: RegExpMatchArray, at: number, open: number, close: number, kind: string): Part[] {
  const from = at + (match.index ?? 0);
  const to = from + match[0].length;
  return [
    { from, to: from + open, kind: "md-mark" },
    { from: from + open, to: to - close, kind },
    { from: to - close, to, kind: "md-mark" },
  ];
}

function inline(line: string, at: number): Part[] {
  const code = [...line.matchAll(CODE)];
  const bare = code.reduce((rest, m) => rest.slice(0, m.index) + "\0".repeat(m[0].length) + rest.slice(m.index + m[0].length), line);
  const size = (match: RegExpMatchArray, group: number): number => match[group]?.length ?? 0;
  return [
    ...code.flatMap((m) => between(m, at, size(m, 1), size(m, 1), "md-code")),
    ...[...bare.matchAll(STRONG)].flatMap((m) => between(m, at, 2, 2, "md-strong")),
    ...[...bare.matchAll(EMPHASIS)].flatMap((m) => between(m, at, 1, 1, "md-emphasis")),
    ...[...bare.matchAll(LINK)].flatMap((m) => between(m, at, size(m, 1), size(m, 3), "md-link")),
  ];
}

/** What a line is by its beginning, and what stands in it. */
function ofLine(line: string, at: number, next: string): Part[] {
  const whole = (kind: string): Part => ({ from: at, to: at + line.length, kind });
  const heading = HEADING.exec(line);
  if (heading) {
    const marks = line.indexOf("#") + (heading[1]?.length ?? 0) + 1;
    return [whole("md-heading"), { from: at, to: at + marks, kind: "md-mark" }, ...inline(line, at)];
  }
  if (UNDERLINE.test(line)) return [whole("md-mark")];
  if (/\S/.test(line) && /^ {0,3}(=+|-{3,}) *$/.test(next) && !line.includes("|")) return [whole("md-heading"), ...inline(line, at)];
  if (/^\s*\|/.test(line)) return [whole("md-row"), ...inline(line, at)];
  const lead = QUOTE.exec(line) ?? ITEM.exec(line);
  const start: Part[] = lead ? [{ from: at, to: at + lead[0].length, kind: "md-mark" }] : [];
  return [...(QUOTE.test(line) ? [whole("md-quote")] : []), ...start, ...inline(line, at)];
}

function parts(text: string): Part[] {
  const found: Part[] = [];
  const lines = text.split("\n");
  let at = 0;
  let fence = "";
  lines.forEach((line, i) => {
    const mark = FENCE.exec(line)?.[1] ?? "";
    if (mark && (!fence || mark === fence)) {
      fence = fence ? "" : mark;
      found.push({ from: at, to: at + line.length, kind: "md-mark" });
    } else if (fence) found.push({ from: at, to: at + line.length, kind: "md-block" });
    else found.push(...ofLine(line, at, lines[i + 1] ?? ""));
    at += line.length + 1;
  });
  return found.filter((part) => part.to > part.from);
}

/** The typographic kinds (`md-`) of a Markdown text between two code points; none of any other text. */
export function typography(text: CodeText, media: string, from: number, to: number): Mark[] {
  if (media !== "text/markdown") return [];
  const start = text.index(from);
  return parts(text.slice(from, to)).map((part) => ({
    span: { start: text.point(start + part.from), end: text.point(start + part.to) },
    kind: part.kind,
  }));
}
