import type { AnswerSentence } from "../api/types";

/** Whether a sentence is marked. */
export const isProblem = ({ support }: AnswerSentence): boolean => support === "check" || support === "not supported";
