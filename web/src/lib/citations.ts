import type { Reply } from "../api/types";
import { CodeText } from "./text";

export interface Citation {
  number: number;
  chunk: string;
}

type Numbered = Pick<Reply, "answer" | "citations" | "marks" | "sources">;

const named = ({ sources }: Pick<Reply, "sources">, numbers: number[]): Citation[] =>
  numbers.map((number) => ({ number, chunk: sources[number - 1]?.chunk_id ?? "" }));

/** The sources of a sentence with their numbers. */
export const citationsOf = (result: Numbered, at: number): Citation[] => named(result, result.citations[at] ?? []);

/** The pieces of a sentence, each with the sources that are cited after it; the last piece may be empty. */
export function partsOf(result: Numbered, at: number): { text: string; cites: Citation[] }[] {
  const text = new CodeText(result.answer.sentences[at]?.text ?? "");
  let start = 0;
  const parts = (result.marks[at] ?? []).map((mark) => {
    const part = { text: text.slice(start, mark.at), cites: named(result, mark.numbers) };
    start = mark.at;
    return part;
  });
  return [...parts, { text: text.slice(start, text.length), cites: [] }].filter((part) => part.text || part.cites.length);
}
