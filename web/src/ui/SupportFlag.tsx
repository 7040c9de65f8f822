import type { Answer, AnswerSentence } from "../api/types";
import { isProblem } from "../lib/support";

/** The state of a sentence with its reason, if it is a problem. */
export function SupportFlag({ sentence }: { sentence: AnswerSentence }) {
  const { support, reason } = sentence;
  if (!isProblem(sentence)) return null;
  return (
    <span className="flag bad">
      {" "}
      {support}
      {reason && (
        <>
          : <bdi>{reason}</bdi>
        </>
      )}
    </span>
  );
}

/** What was checked of a written answer. */
export function Checked({ answer }: { answer: Answer }) {
  return answer.checked && <p className="small quiet">{answer.checked}</p>;
}
