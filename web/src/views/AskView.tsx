import { useState } from "react";
import type { Reply } from "../api/types";
import type { Resting } from "../lib/evidence";
import { stageName } from "../lib/words";
import { ProblemNote } from "../ui/Notes";
import { QuestionBar } from "../ui/QuestionBar";
import { Checked } from "../ui/SupportFlag";
import { useApp } from "../state/app";
import type { Run } from "../state/useRun";
import { Found } from "./ask/Found";
import { Conflicts } from "./ask/Conflicts";
import { Namesakes } from "./ask/Namesakes";
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
  const { route, go } = useApp();
  const [pointed, setPointed] = useState<number | null>(null);
  const [resting, setResting] = useState<Resting | null>(null);
  const last = result.answer.sentences.length - 1;
  const chosen = route.s === null ? null : Math.min(route.s, last);
  const active = pointed ?? chosen ?? 0;
  const [picked, setPicked] = useState({ at: 0, chunk: "" });
  const pick = (at: number, chunk: string) => {
    setPicked({ at, chunk });
    go({ s: at });
  };
  return (
    <div className="columns">
      <section className="answer" aria-label="Answer">
        <Prose result={result} lit={resting?.sentences ?? [active]} chosen={chosen} onPoint={setPointed} onPick={pick} />
        <Checked answer={result.answer} />
        <Cited result={result} />
        <Conflicts result={result} at={active} />
        <Namesakes answer={result.answer} />
        <Unsaid notes={result.answer.notes} />
        <SaveBar result={result} />
        <div className="stack">
          <div className={resting ? "behind" : undefined}>
            <Trail result={result} at={active} />
          </div>
          {resting && <RestingOn result={result} resting={resting} />}
        </div>
      </section>
      <SourcePane
        result={result}
        corpus={corpus}
        at={active}
        passage={picked.at === active ? picked.chunk : ""}
        onPassage={(chunk) => setPicked({ at: active, chunk })}
        onPoint={setResting}
      />
    </div>
  );
}

/** What a question has gone through so far, and the draft as it is written. */
function Draft({ run: { draft, failures, stages, statements } }: { run: Run }) {
  return (
    <section className="answer" aria-label="Draft" aria-busy="true">
      <p className="quiet small">{stages.map((seen) => stageName(seen.stage)).join(" · ") || stageName("prepare")}…</p>
      {statements.length > 0 && <Found statements={statements} isDone={draft !== ""} />}
      {draft && (
        <p className="prose draft" dir="auto">
          {draft}
        </p>
      )}
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
