import type { Chunk, Reply, Span } from "../api/types";
import { overlap } from "./text";

/** How far a passage came. */
export type Fate = "unread" | "not retrieved" | "not in evidence" | "not used" | "used";

export interface Lost {
  fate: Fate;
  /** One-based rank of its chunk among those that were retrieved. */
  rank: number | null;
  /** Indices of the sentences that tell it. */
  sentences: number[];
}

export function fateOf(span: Span, doc: string, chunks: Chunk[], result: Reply): Lost {
  const own = chunks.filter((chunk) => chunk.doc_id === doc && overlap(chunk.span, span));
  const used = result.answer.sentences.flatMap((sentence, at) =>
    sentence.evidence.some((e) => e.doc_id === doc && overlap(e.span, span)) ? [at] : [],
  );
  if (used.length) return { fate: "used", rank: rankOf(own, result), sentences: used };
  if (!own.length) return { fate: "unread", rank: null, sentences: [] };
  const rank = rankOf(own, result);
  if (rank === null) return { fate: "not retrieved", rank, sentences: [] };
  const kept = result.evidence;
  const narrowed = own.filter((chunk) => chunk.id in kept);
  const inside = narrowed.some((chunk) => kept[chunk.id]?.some((part) => overlap(part, span)));
  const cut = narrowed.length > 0 && !inside;
  return { fate: cut ? "not in evidence" : "not used", rank, sentences: [] };
}

function rankOf(own: Chunk[], result: Reply): number | null {
  const ids = new Set(own.map((chunk) => chunk.id));
  const at = result.hits.findIndex((hit) => ids.has(hit.chunk_id));
  return at < 0 ? null : at + 1;
}
