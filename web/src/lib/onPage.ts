/** Where quoted characters stand among the strings that a page of a PDF is drawn from. */

import { CodeText, type Mark } from "./text";

/** Letters and digits alone: spaces, hyphens at a line's end and marks of a table differ between page and text. */
class Letters {
  readonly text: string;
  /** Of each letter the string that it comes from, and the code point in it. */
  readonly places: [number, number][] = [];

  constructor(strings: string[]) {
    let text = "";
    strings.forEach((string, item) => {
      [...string].forEach((char, at) => {
        for (const letter of char.normalize("NFKC").toLowerCase()) {
          if (!/[\p{L}\p{N}]/u.test(letter)) continue;
          text += letter;
          for (let i = 0; i < letter.length; i += 1) this.places.push([item, at]);
        }
      });
    });
    this.text = text;
  }
}

/** Shorter parts of a quotation are not looked for: they would be found anywhere. */
const LEAST = 12;

/** The place of `quote` nearest to `near`. */
function nearest(text: string, quote: string, near: number): number {
  let best = -1;
  for (let at = text.indexOf(quote); at >= 0; at = text.indexOf(quote, at + 1)) {
    if (best < 0 || Math.abs(at - near) < Math.abs(best - near)) best = at;
  }
  return best;
}

/** The longest beginning, or end, of a quotation that the page has. */
function partly(text: string, quote: string, atEnd: boolean): string {
  let low = 0;
  let high = quote.length;
  while (low < high) {
    const mid = (low + high + 1) >> 1;
    if (text.includes(atEnd ? quote.slice(-mid) : quote.slice(0, mid))) low = mid;
    else high = mid - 1;
  }
  if (low < LEAST) return "";
  return atEnd ? quote.slice(-low) : quote.slice(0, low);
}

/** Marks of each string of a page, for the marks of that page's text; `text` is the page's part of the document. */
export function marksOnPage(strings: string[], text: string, marks: Mark[]): Map<number, Mark[]> {
  const page = new Letters(strings);
  const coded = new CodeText(text);
  const found = new Map<number, Mark[]>();
  for (const { span, kind } of marks) {
    const quote = new Letters([coded.slice(Math.max(0, span.start), Math.min(coded.length, span.end))]).text;
    if (!quote) continue;
    const near = new Letters([coded.slice(0, Math.max(0, span.start))]).text.length;
    const whole = nearest(page.text, quote, near);
    const parts = whole >= 0 ? [quote] : [partly(page.text, quote, false), partly(page.text, quote, true)];
    for (const part of parts.filter(Boolean)) {
      const start = nearest(page.text, part, near);
      const ends = new Map<number, [number, number]>();
      for (const [item, at] of page.places.slice(start, start + part.length)) {
        ends.set(item, [ends.get(item)?.[0] ?? at, at + 1]);
      }
      const items = [...ends.keys()];
      for (const [item, [from, to]] of ends) {
        const chars = [...(strings[item] ?? "")];
        const stop = chars.findIndex((char, i) => i >= to && /[\s\p{L}\p{N}]/u.test(char));
        const last = item === items.at(-1) && stop >= 0;
        const between = { start: item === items[0] ? from : 0, end: last ? stop : chars.length };
        found.set(item, [...(found.get(item) ?? []), { span: between, kind }]);
      }
    }
  }
  return found;
}
