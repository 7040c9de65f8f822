import type { Reply } from "../../api/types";
import type { Resting } from "../../lib/evidence";

const named = (at: number[]): string => {
  const numbers = at.map((i) => String(i + 1));
  const last = numbers.pop() ?? "";
  return numbers.length ? `Sentences ${numbers.join(", ")} and ${last} rest` : `Sentence ${last} rests`;
};

/** What of the answer rests on the passage that is pointed at: its sentences, which are lit, and steps of the plan. */
export function RestingOn({ result, resting }: { result: Reply; resting: Resting }) {
  const { sentences, steps } = resting;
  const { plan } = result.answer;
  return (
    <section className="trail" aria-label="What rests on this passage">
      <h2>
        <span role="status">{sentences.length ? `${named(sentences)} on this passage` : "No sentence rests on this passage"}</span>
      </h2>
      {plan && <h3>Steps of the plan</h3>}
      {steps.map((at) => (
        <p className="step-text resting-step" key={at}>
          <span className="step-number">{at + 1}</span>
          <bdi>{plan?.steps[at]?.text}</bdi>
        </p>
      ))}
      {plan && !steps.length && <p className="quiet small">No step of the plan cites it.</p>}
    </section>
  );
}
