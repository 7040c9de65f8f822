import type { PlanStep, Reply, Span } from "../api/types";
import { overlap } from "./text";

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
  const cites = ({ references }: PlanStep) => references.some(({ chunk }) => chunks.has(result.graph?.chunks[chunk - 1] ?? ""));
  const steps = (result.answer.plan?.steps ?? []).flatMap((step, at) => (carried.has(at) || cites(step) ? [at] : []));
  return { sentences, steps };
}
