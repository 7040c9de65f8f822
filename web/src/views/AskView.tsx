import { useState } from "react";
import type { Preliminary } from "../api/open";
import type { Reply } from "../api/types";
import type { Resting } from "../lib/evidence";
import { NOT_SURE, stageName } from "../lib/words";
import { ProblemNote } from "../ui/Notes";
import { QuestionBar } from "../ui/QuestionBar";
import { useApp } from "../state/app";
import type { Run } from "../state/useRun";
import { Conflicts } from "./ask/Conflicts";
import { Cited, Prose } from "./ask/Prose";
import { RestingOn } from "./ask/RestingOn";
import { Refusal } from "./ask/Refusal";
import { SourcePane } from "./ask/SourcePane";
import { Start } from "./ask/Start";
import { ThreadBar } from "./ask/Threads";
import { Trail } from "./ask/Trail";
import { SaveBar } from "./ask/SaveBar";
import { Unsaid } from "./ask/Unsaid";

function WrittenAnswer({ result, corpus }: { result: Reply; corpus: string }) {
  const { route } = useApp();
  const [pointed, setPointed] = useState<number | null>(null);
  const [resting, setResting] = useState<Resting | null>(null);
  const last = result.answer.sentences.length - 1;
  const chosen = route.s === null ? null : Math.min(route.s, last);
  const active = pointed ?? chosen ?? 0;
  return (
    <div className="columns">
      <section className="answer" aria-label="Answer">
        <Prose result={result} lit={resting?.sentences ?? [active]} chosen={chosen} onPoint={setPointed} />
        <Cited result={result} />
        <Conflicts result={result} at={active} />
        <Unsaid notes={result.answer.notes} />
        <SaveBar result={result} />
        <div className="stack">
          <div className={resting ? "behind" : undefined}>
            <Trail result={result} at={active} />
          </div>
          {resting && <RestingOn result={result} resting={resting} />}
        </div>
      </section>
      <SourcePane result={result} corpus={corpus} at={active} onPoint={setResting} />
    </div>
  );
}

/** The sentences of the sources, shown until the language model has written. */
function PreliminaryAnswer({ found }: { found: Preliminary }) {
  return (
    <section className="answer" aria-label="Preliminary answer">
      <p className="note small">Preliminary: sentences of the sources, while the language model writes.</p>
      <p className="prose" dir="auto">
        {found.answer.unsure && <span className="quiet">{NOT_SURE} </span>}
        {found.answer.sentences.map((sentence, at) => (
          <span key={at}>
            <bdi>{sentence.text}</bdi>
            <sup className="cites">{found.citations[at]?.join(" ")}</sup>{" "}
          </span>
        ))}
      </p>
      <Cited result={found} />
    </section>
  );
}

function Draft({ run: { draft, failures, preliminary, stages } }: { run: Run }) {
  const now = stages.findLast((stage) => stage.state === "running");
  return (
    <section className="answer" aria-label="Draft" aria-busy="true">
      {preliminary && <h2>The language model {draft ? "writes" : "reads"}…</h2>}
      {draft && (
        <p className="prose draft" dir="auto">
          {draft}
        </p>
      )}
      {!draft && !preliminary && <p className="quiet">{stageName(now?.stage ?? "retrieve")}…</p>}
      {failures.map((failure, at) => (
        <p className="note small" key={at}>
          {stageName(failure.stage)}: <bdi>{failure.message}</bdi> Used instead: <bdi>{failure.fallback || "nothing"}</bdi>.
        </p>
      ))}
    </section>
  );
}

export function AskView() {
  const { run } = useApp();
  return (
    <>
      <QuestionBar />
      <ThreadBar />
      {run.status === "idle" && <Start />}
      {run.status === "running" && run.preliminary && <PreliminaryAnswer found={run.preliminary} />}
      {run.status === "running" && <Draft run={run} />}
      {run.problem && <ProblemNote problem={run.problem} />}
      {run.result && run.asked && (run.result.answer.abstained ? (
        <Refusal result={run.result} corpus={run.asked.corpus} />
      ) : (
        <WrittenAnswer key={run.result.text} result={run.result} corpus={run.asked.corpus} />
      ))}
    </>
  );
}
