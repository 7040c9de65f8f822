import { useEffect, useState } from "react";
import { passagesOf } from "../api/calls";
import type { Chunk, Reply } from "../api/types";

export type Passages = ReadonlyMap<string, Chunk>;

const NONE: Passages = new Map();

/** The passages of a result by id; the reply has only their ids. */
export function usePassages(result: Reply | null, corpus: string): Passages {
  const [passages, setPassages] = useState<Passages>(NONE);
  useEffect(() => {
    setPassages(NONE);
    if (!result) return undefined;
    let wanted = true;
    const ids = [...new Set([...result.hits.map((hit) => hit.chunk_id), ...(result.graph?.chunks ?? [])])];
    passagesOf(corpus, ids)
      .then((found) => wanted && setPassages(new Map(found.map((chunk) => [chunk.id, chunk]))))
      .catch(() => undefined);
    return () => {
      wanted = false;
    };
  }, [result, corpus]);
  return passages;
}
