import type { Reply } from "../api/types";

export interface Citation {
  number: number;
  chunk: string;
}

/** The numbers after a sentence: the first one of each passage that it rests on. */
export function citationsOf({ citations, sources }: Pick<Reply, "citations" | "sources">, at: number): Citation[] {
  const found = new Map<string, number>();
  for (const number of citations[at] ?? []) {
    const chunk = sources[number - 1]?.chunk_id ?? "";
    if (!found.has(chunk)) found.set(chunk, number);
  }
  return [...found].map(([chunk, number]) => ({ number, chunk }));
}
