import { useMemo, useState } from "react";
import { Button, Label, TextArea, TextField } from "react-aria-components";
import { ask } from "../api/calls";
import { problemOf, type Problem } from "../api/client";
import type { Question } from "../api/open";
import type { Answer, Reply } from "../api/types";
import { reconnected, stepsOf, type Step } from "../lib/plan";
import { useApp } from "../state/app";
import { AnswerColumn } from "../ui/AnswerColumn";
import { NeedsResult } from "../ui/NeedsResult";
import { NoneMade, ProblemNote } from "../ui/Notes";
import { Unsaid } from "./ask/Unsaid";

interface StepsProps {
  steps: Step[];
  onChange: (steps: Step[]) => void;
}

function moved(steps: Step[], at: number, by: number): Step[] {
  const next = [...steps];
  const [step] = next.splice(at, 1);
  if (step) next.splice(at + by, 0, step);
  return next;
}

function Steps({ steps, onChange }: StepsProps) {
  return (
    <ol className="steps">
      {steps.map((step, at) => (
        <li key={`${at} ${step.text}`}>
          <span className="step-number">{at + 1}</span>
          <bdi>{step.text}</bdi>
          <span className="step-buttons">
            {[
              { name: `Move step ${at + 1} up`, sign: "↑", off: at === 0, next: moved(steps, at, -1) },
              { name: `Move step ${at + 1} down`, sign: "↓", off: at === steps.length - 1, next: moved(steps, at, 1) },
              { name: `Remove step ${at + 1}`, sign: "Remove", off: steps.length === 1, next: steps.filter((_, i) => i !== at) },
            ].map(({ name, sign, off, next }) => (
              <Button key={sign} className="button quiet-button" aria-label={name} isDisabled={off} onPress={() => onChange(next)}>
                {sign}
              </Button>
            ))}
          </span>
        </li>
      ))}
    </ol>
  );
}

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
  plan: string;
  answer: Answer;
}

/** The last one, by question and first plan; it stays until the page is loaded again. */
const lastWritten = new Map<string, Written>();

function Editor({ result, asked, plan }: { result: Reply; asked: Question; plan: string }) {
  const { query, corpus, switches } = asked;
  const key = keyOf(asked, plan);
  const [written, setWritten] = useState(lastWritten.get(key) ?? null);
  const [text, setText] = useState(written?.plan ?? plan);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const steps = useMemo(() => stepsOf(text), [text]);
  const write = async () => {
    setBusy(true);
    setProblem(null);
    try {
      const { answer } = await ask({ query, corpus, switches: { ...switches, plan: text.trim() } });
      const next = { plan: text.trim(), answer };
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
      <div className="plan-edit">
        <div>
          <TextField className="field" value={text} onChange={setText} maxLength={20_000}>
            <Label>Plan</Label>
            <TextArea className="plan-text" dir="auto" rows={8} />
          </TextField>
          <p className="quiet small">
            Each sentence is a step. Numbers in brackets cite the evidence: [6.2] is the second unit of passage 6.
          </p>
          <div className="plan-buttons">
            <Button className="button primary" isDisabled={busy || !text.trim()} onPress={() => void write()}>
              {busy ? "Writing…" : "Write from this plan"}
            </Button>
            <Button className="button" isDisabled={text === plan} onPress={() => setText(plan)}>
              Original plan
            </Button>
          </div>
          <Passages result={result} />
        </div>
        <Steps steps={steps} onChange={(next) => setText(reconnected(next).map((step) => step.text).join(" "))} />
      </div>
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

const keyOf = ({ query, corpus, switches }: Question, plan: string): string => JSON.stringify([query, corpus, switches, plan]);

function Shown({ result, asked }: { result: Reply; asked: Question }) {
  const plan = result.answer.plan?.paragraph;
  if (!plan) return <NoneMade what="plan" answer={result.answer} />;
  return <Editor key={keyOf(asked, plan)} result={result} asked={asked} plan={plan} />;
}

export default function PlanView() {
  return <NeedsResult what="the plan of its answer">{(result, asked) => <Shown result={result} asked={asked} />}</NeedsResult>;
}
