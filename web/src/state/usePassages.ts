import { useEffect, useState } from "react";
import { passagesOf } from "../api/calls";
import type { Chunk, Reply } from "../api/types";

export type Passages = ReadonlyMap<string, Chunk>;

const NONE: Passages = new Map();

/** The passages of a result by id, their documents named as among its sources; the reply has only their ids. */
export function usePassages(result: Reply | null, corpus: string): Passages {
  const [passages, setPassages] = useState<Passages>(NONE);
  useEffect(() => {
    setPassages(NONE);
    if (!result) return undefined;
    let wanted = true;
    const ids = [...new Set([...result.hits.map((hit) => hit.chunk_id), ...(result.graph?.chunks ?? [])])];
    const names = new Map(result.sources.map(({ doc_id, title }) => [doc_id, title]));
    const named = (chunk: Chunk) => ({ ...chunk, title: names.get(chunk.doc_id) ?? chunk.title });
    passagesOf(corpus, ids)
      .then((found) => wanted && setPassages(new Map(found.map((chunk) => [chunk.id, named(chunk)]))))
      .catch(() => undefined);
    return () => {
      wanted = false;
    };
  }, [result, corpus]);
  return passages;
}
