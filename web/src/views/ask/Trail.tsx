import type { Reply } from "../../api/types";
import { isProblem, PROBLEMS } from "../../lib/support";
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
  return (
    <section className="trail" aria-label="How this sentence came about">
      <h2>Sentence {at + 1}</h2>
      <p className={isProblem(sentence) ? "bad" : "quiet small"}>
        {PROBLEMS[sentence.support]} <bdi>{sentence.reason}</bdi>
        {sentence.confidence !== null && ` Probability: ${percent(sentence.confidence)}.`}
      </p>
      <details>
        <summary>Its step of the plan</summary>
        <Step result={result} at={at} />
      </details>
    </section>
  );
}
