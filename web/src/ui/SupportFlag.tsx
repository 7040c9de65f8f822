import type { Answer, AnswerSentence } from "../api/types";
import { isProblem } from "../lib/support";

/** The state of a sentence, if it is a problem. */
export function SupportFlag({ sentence }: { sentence: AnswerSentence }) {
  return isProblem(sentence) && <span className="flag bad"> {sentence.support}</span>;
}

/** What was checked of a written answer. */
export function Checked({ answer }: { answer: Answer }) {
  return answer.checked && <p className="small quiet">{answer.checked}</p>;
}
