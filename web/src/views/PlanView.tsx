import { useMemo, useState } from "react";
import { Button, Label, TextArea, TextField } from "react-aria-components";
import type { Question } from "../api/open";
import type { Reply } from "../api/types";
import { reconnected, stepsOf, type Step } from "../lib/plan";
import { useApp } from "../state/app";
import { AnswerColumn } from "../ui/AnswerColumn";
import { NeedsResult } from "../ui/NeedsResult";
import { NoneMade, ProblemNote } from "../ui/Notes";
import { Unsaid } from "./ask/Unsaid";
import { useVersions, type Versions } from "./plan/useVersions";
import { VersionList } from "./plan/VersionList";

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

function Written({ kept, original }: { kept: Versions; original: Reply["answer"] }) {
  const version = kept.at === null ? undefined : kept.versions[kept.at];
  if (!version) {
    return (
      <section className="panel quiet" aria-label="From your plan">
        <p>Change the plan and write from it: the two answers are shown side by side here.</p>
      </section>
    );
  }
  const which = kept.versions.length > 1 ? `, version ${(kept.at ?? 0) + 1}` : "";
  return (
    <AnswerColumn title={`From your plan${which}`} answer={version.answer} other={original}>
      <Unsaid notes={version.answer.notes} />
    </AnswerColumn>
  );
}

function Editor({ result, asked, plan }: { result: Reply; asked: Question; plan: string }) {
  const kept = useVersions(asked, plan);
  const { busy, problem, versions, at, write } = kept;
  const version = at === null ? undefined : versions[at];
  const chosen = version?.plan ?? plan;
  const [{ text, of }, setEdited] = useState({ text: chosen, of: at });
  const setText = (next: string) => setEdited({ text: next, of: at });
  if (of !== at) setText(chosen);
  const steps = useMemo(() => stepsOf(text), [text]);
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
            <Button className="button primary" isDisabled={busy || !text.trim()} onPress={() => write(text.trim())}>
              {busy ? "Writing…" : "Write from this plan"}
            </Button>
            <Button className="button" isDisabled={text === chosen} onPress={() => setText(chosen)}>
              Undo changes
            </Button>
          </div>
          <Passages result={result} />
        </div>
        <Steps steps={steps} onChange={(next) => setText(reconnected(next).map((step) => step.text).join(" "))} />
      </div>
      {problem && <ProblemNote problem={problem} />}
      <VersionList kept={kept} steps={result.steps.length} sentences={result.answer.sentences.length} />
      <div className="sides plan-answers" aria-live="polite" aria-busy={busy}>
        <AnswerColumn title="Original plan" answer={result.answer} other={version?.answer ?? null} />
        <Written kept={kept} original={result.answer} />
      </div>
    </>
  );
}

function Shown({ result, asked }: { result: Reply; asked: Question }) {
  const plan = result.answer.plan?.paragraph;
  if (!plan) return <NoneMade what="plan" answer={result.answer} />;
  return <Editor key={JSON.stringify([asked.query, asked.corpus, asked.switches, plan])} result={result} asked={asked} plan={plan} />;
}

export default function PlanView() {
  return <NeedsResult what="the plan of its answer">{(result, asked) => <Shown result={result} asked={asked} />}</NeedsResult>;
}
