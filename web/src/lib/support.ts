import type { AnswerSentence, Support } from "../api/types";

/** The states that are shown. */
export const PROBLEMS: Partial<Record<Support, string>> = { check: "Check.", "not supported": "Not supported." };

/** Whether a sentence is marked. */
export function isProblem(sentence: AnswerSentence): boolean {
  return sentence.support in PROBLEMS;
}
