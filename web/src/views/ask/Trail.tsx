import type { Reply } from "../../api/types";
import { disputes } from "../../lib/disputes";
import { followed } from "../../lib/plan";
import { percent, relationName, tone } from "../../lib/words";
import { useApp } from "../../state/app";

function Edges({ result, at }: { result: Reply; at: number }) {
  const { passages } = useApp();
  const edges = followed(result.graph, result.answer.sentences, result.steps, at);
  if (!edges.length) return <p className="quiet small">No relation between its passages was found.</p>;
  return (
    <ul className="edges">
      {edges.map(({ edge, from, to }) => (
        <li key={`${from} ${to}`}>
          <bdi>{passages.get(edge.source)?.title || `Passage ${from}`}</bdi>
          <span className={`relation ${tone(edge.relation)}`}>{relationName(edge.relation)}</span>
          <bdi>{passages.get(edge.target)?.title || `Passage ${to}`}</bdi>
        </li>
      ))}
    </ul>
  );
}

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

const STATES = { supported: "Supported.", "not supported": "Not supported.", "not verified": "Not verified." };

function Support({ result, at }: { result: Reply; at: number }) {
  const { go } = useApp();
  const sentence = result.answer.sentences[at];
  if (!sentence) return null;
  const odds = disputes(result.answer, sentence).length;
  return (
    <>
      <p className={sentence.support === "not supported" ? "bad" : "quiet small"}>
        {STATES[sentence.support]} <bdi>{sentence.reason}</bdi>
        {sentence.confidence !== null && ` Probability: ${percent(sentence.confidence)}.`}
      </p>
      {odds > 0 && (
        <button type="button" className="link" onClick={() => go({ view: "disagreements", s: at })}>
          {odds === 1 ? "Sources disagree about this" : `${odds} disagreements about this`}
        </button>
      )}
    </>
  );
}

/** How the sentence came about: its step of the plan, and the edges that it follows. */
export function Trail({ result, at }: { result: Reply; at: number }) {
  return (
    <section className="trail" aria-label="How this sentence came about">
      <h2>Sentence {at + 1}</h2>
      <Support result={result} at={at} />
      <details>
        <summary>Its place in the plan and among the passages</summary>
        <h3>Step of the plan</h3>
        <Step result={result} at={at} />
        <h3>Relations between its passages</h3>
        <Edges result={result} at={at} />
      </details>
    </section>
  );
}
