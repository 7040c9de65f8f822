import type { AnswerSentence } from "../api/types";

/** The state of a sentence, unless it is supported. */
export function SupportFlag({ sentence }: { sentence: AnswerSentence }) {
  if (sentence.support === "supported") return null;
  return <span className={sentence.support === "not supported" ? "flag bad" : "flag quiet"}> {sentence.support}</span>;
}
