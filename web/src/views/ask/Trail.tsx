import type { Reply } from "../../api/types";
import { isProblem } from "../../lib/support";
import { percent } from "../../lib/words";

function Step({ result, at }: { result: Reply; at: number }) {
  const { steps } = result;
  const step = result.answer.sentences[at]?.step ?? null;
  if (!result.answer.plan) return <p className="quiet small">There was no plan.</p>;
  if (step === null || !steps[step]) return <p className="quiet small">It belongs to no step of the plan.</p>;
  return (
    <p className="step-text">
      <span className="step-number">{step + 1}</span>
      <bdi>{steps[step].text}</bdi>
    </p>
  );
}

/** How the sentence came about: what supports it, and its step of the plan. */
export function Trail({ result, at }: { result: Reply; at: number }) {
  const sentence = result.answer.sentences[at];
  if (!sentence) return null;
  const { confidence } = sentence;
  const reason = isProblem(sentence) ? "" : sentence.reason; // the sentence's mark has it
  return (
    <section className="trail" aria-label="How this sentence came about">
      <h2>Sentence {at + 1}</h2>
      {(reason || confidence !== null) && (
        <p className="quiet small">
          <bdi>{reason}</bdi>
          {confidence !== null && ` Probability: ${percent(confidence)}.`}
        </p>
      )}
      <details>
        <summary>Its step of the plan</summary>
        <Step result={result} at={at} />
      </details>
    </section>
  );
}
