import type { Plan, Reply } from "../../api/types";
import { isProblem } from "../../lib/support";
import { percent } from "../../lib/words";

function Step({ plan, at }: { plan: Plan | null; at: number | null }) {
  if (!plan) return <p className="quiet small">There was no plan.</p>;
  const step = at === null ? undefined : plan.steps[at];
  if (at === null || !step) return <p className="quiet small">It belongs to no step of the plan.</p>;
  return (
    <p className="step-text">
      <span className="step-number">{at + 1}</span>
      <bdi>{step.text}</bdi>
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
        <Step plan={result.answer.plan} at={sentence.step} />
      </details>
    </section>
  );
}
