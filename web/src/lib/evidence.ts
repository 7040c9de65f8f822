import type { Reply, Span } from "../api/types";
import type { Passages } from "../state/usePassages";
import { overlap } from "./text";

/** What was read of a document as evidence, in text order; of a passage without marked parts the whole. */
export function readOf(result: Reply, passages: Passages, doc: string): Span[] {
  const found = new Map<string, Span>();
  for (const { chunk_id } of result.hits) {
    const chunk = passages.get(chunk_id);
    if (chunk?.doc_id !== doc) continue;
    for (const span of result.evidence[chunk_id] ?? [chunk.span]) found.set(`${span.start} ${span.end}`, span);
  }
  return [...found.values()].sort((a, b) => a.start - b.start);
}

/** How many of these spans lie, if only in part, in some stretches of their document. */
export const within = (spans: Span[], stretches: Span[]): number =>
  spans.filter((span) => stretches.some((stretch) => overlap(span, stretch))).length;

export interface Resting {
  /** Indices of sentences of the answer. */
  sentences: number[];
  /** Indices of steps of the plan. */
  steps: number[];
}

/** What of the answer and its plan rests on some characters of a document. */
export function restingOn(result: Reply, doc: string, span: Span): Resting {
  const meets = result.answer.sentences.map((sentence) =>
    sentence.evidence.filter((e) => e.doc_id === doc && overlap(e.span, span)),
  );
  const sentences = meets.flatMap((found, at) => (found.length ? [at] : []));
  const carried = new Set(sentences.map((at) => result.answer.sentences[at]?.step));
  const chunks = new Set(meets.flat().map((e) => e.chunk_id));
  const cites = (at: number) => result.steps[at]?.references.some(({ chunk }) => chunks.has(result.graph?.chunks[chunk - 1] ?? ""));
  const steps = result.steps.flatMap((_, at) => (carried.has(at) || cites(at) ? [at] : []));
  return { sentences, steps };
}
