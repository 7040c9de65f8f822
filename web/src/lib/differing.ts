import { CodeText, escaped, type Mark } from "./text";

/** Where the words that differ stand in the sentence: each as often as it is named, in any case. */
export function differing(text: CodeText, span: { start: number; end: number }, words: string[]): Mark[] {
  const lower = text.of(span).toLowerCase();
  const inside = new CodeText(text.of(span));
  const letter = /[\p{L}\p{N}]/u;
  return words.flatMap((word) => {
    const wanted = word.toLowerCase();
    const at = [...lower.matchAll(new RegExp(escaped(wanted), "gu"))];
    const whole = at.filter(({ index }) => {
      const before = lower[index - 1] ?? " ";
      const after = lower[index + wanted.length] ?? " ";
      return !(letter.test(before) && letter.test(wanted[0] ?? "")) && !(letter.test(after) && letter.test(wanted.at(-1) ?? ""));
    });
    return whole.map(({ index }) => ({
      span: { start: span.start + inside.point(index), end: span.start + inside.point(index + wanted.length) },
      kind: "differs",
    }));
  });
}

/** Where a larger part than this differs, marking it would say nothing. */
const MOST = 0.6;

/** The words of one sentence that the other does not have; none if the two have little in common. */
export function ownWords(text: string, other: string): string[] {
  const words = (of: string) => of.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}.,%-]*[\p{L}\p{N}%]|[\p{L}\p{N}]/gu) ?? [];
  const theirs = new Set(words(other));
  const mine = [...new Set(words(text))];
  const own = mine.filter((word) => !theirs.has(word));
  return own.length > MOST * mine.length ? [] : own;
}
