import { useMemo, useState } from "react";
import { Button } from "react-aria-components";
import { ask } from "../api/calls";
import { problemOf, type Problem } from "../api/client";
import type { Question } from "../api/open";
import type { Answer, Plan, Reply } from "../api/types";
import { planText, stepsOf, type Step } from "../lib/plan";
import { useApp } from "../state/app";
import { AnswerColumn } from "../ui/AnswerColumn";
import { NeedsResult } from "../ui/NeedsResult";
import { NoneMade, ProblemNote } from "../ui/Notes";
import { Unsaid } from "./ask/Unsaid";
import { Steps } from "./plan/Steps";

function Passages({ result }: { result: Reply }) {
  const { passages } = useApp();
  const chunks = result.graph?.chunks ?? result.hits.map((h) => h.chunk_id);
  return (
    <details className="small">
      <summary>The passages behind the numbers</summary>
      <ol className="numbered">
        {chunks.map((id, i) => (
          <li key={id}>
            [{i + 1}] <bdi>{passages.get(id)?.title ?? id}</bdi>
          </li>
        ))}
      </ol>
    </details>
  );
}

/** An answer that was written from a changed plan. */
interface Written {
  steps: Step[];
  answer: Answer;
}

/** The last one, by question and first plan; it stays until the page is loaded again. */
const lastWritten = new Map<string, Written>();

function Help({ result, steps }: { result: Reply; steps: Step[] }) {
  if (steps.some(({ role }) => role !== null)) {
    return (
      <p className="quiet small">
        Each step names the statements behind it; the view <i>Graph</i> has their quotations.
      </p>
    );
  }
  return (
    <>
      <p className="quiet small">Numbers in brackets cite the evidence: [6.2] is the second unit of passage 6.</p>
      <Passages result={result} />
    </>
  );
}

function Editor({ result, asked, plan }: { result: Reply; asked: Question; plan: Plan }) {
  const { query, corpus, switches } = asked;
  const key = keyOf(asked, plan);
  const original = useMemo(() => stepsOf(plan), [plan]);
  const [written, setWritten] = useState(lastWritten.get(key) ?? null);
  const [steps, setSteps] = useState(written?.steps ?? original);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const text = planText(steps);
  const write = async () => {
    setBusy(true);
    setProblem(null);
    try {
      const { answer } = await ask({ query, corpus, switches: { ...switches, plan: text } });
      const next = { steps, answer };
      lastWritten.set(key, next);
      setWritten(next);
    } catch (error) {
      setProblem(problemOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <section className="plan-edit" aria-label="Plan">
        <Steps steps={steps} onChange={setSteps} />
        <div className="plan-buttons">
          <Button className="button primary" isDisabled={busy || !text} onPress={() => void write()}>
            {busy ? "Writing…" : "Write from this plan"}
          </Button>
          <Button className="button" isDisabled={text === planText(original)} onPress={() => setSteps(original)}>
            Original plan
          </Button>
        </div>
        <Help result={result} steps={original} />
      </section>
      {problem && <ProblemNote problem={problem} />}
      <div className="sides plan-answers" aria-live="polite" aria-busy={busy}>
        <AnswerColumn title="Original plan" answer={result.answer} other={written?.answer ?? null} />
        {written ? (
          <AnswerColumn title="From your plan" answer={written.answer} other={result.answer}>
            <Unsaid notes={written.answer.notes} />
          </AnswerColumn>
        ) : (
          <section className="panel quiet" aria-label="From your plan">
            <p>Change the plan and write from it: the two answers are shown side by side here.</p>
          </section>
        )}
      </div>
    </>
  );
}

const keyOf = ({ query, corpus, switches }: Question, { paragraph }: Plan): string =>
  JSON.stringify([query, corpus, switches, paragraph]);

function Shown({ result, asked }: { result: Reply; asked: Question }) {
  const { plan } = result.answer;
  if (!plan?.paragraph) return <NoneMade what="plan" answer={result.answer} />;
  return <Editor key={keyOf(asked, plan)} result={result} asked={asked} plan={plan} />;
}

export default function PlanView() {
  return <NeedsResult what="the plan of its answer">{(result, asked) => <Shown result={result} asked={asked} />}</NeedsResult>;
}
