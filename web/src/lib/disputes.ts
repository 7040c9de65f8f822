import type { Answer, AnswerSentence, Disagreement, EvidenceSpan } from "../api/types";
import { overlap } from "./text";

const meets = (a: EvidenceSpan, b: EvidenceSpan): boolean => a.doc_id === b.doc_id && overlap(a.span, b.span);

const tells = (sentence: AnswerSentence, side: EvidenceSpan): boolean => sentence.evidence.some((e) => meets(e, side));

/** The disagreements of which a sentence tells a side. */
export const disputes = (answer: Answer, sentence: AnswerSentence): Disagreement[] =>
  answer.disagreements.filter((d) => tells(sentence, d.a) || tells(sentence, d.b));

/** The indices of the sentences that tell this side of a disagreement. */
export const tellers = (answer: Answer, side: EvidenceSpan): number[] =>
  answer.sentences.flatMap((sentence, at) => (tells(sentence, side) ? [at] : []));
