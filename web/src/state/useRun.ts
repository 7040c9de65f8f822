import { useCallback, useRef, useState } from "react";
import { problemOf, type Problem } from "../api/client";
import { stream } from "../api/stream";
import type { Question, StreamEvent } from "../api/open";
import type { Failure, Reply, Statement } from "../api/types";

export interface StageSeen {
  stage: string;
  state: "running" | "done" | "failed";
  preview: string;
  seconds: number | null;
}

export interface Run {
  status: "idle" | "running" | "done" | "failed";
  asked: Question | null;
  stages: StageSeen[];
  /** What a language model has found in the passages so far. */
  statements: Statement[];
  draft: string;
  failures: Failure[];
  result: Reply | null;
  problem: Problem | null;
}

const IDLE: Run = {
  status: "idle",
  asked: null,
  stages: [],
  statements: [],
  draft: "",
  failures: [],
  result: null,
  problem: null,
};

function withStage(stages: StageSeen[], seen: StageSeen): StageSeen[] {
  const at = stages.findIndex((s) => s.stage === seen.stage);
  return at < 0 ? [...stages, seen] : stages.map((s, i) => (i === at ? seen : s));
}

/** A model that repeats its reply repeats what it has found. */
const withStatement = (found: Statement[], one: Statement): Statement[] =>
  found.some(({ says }) => says === one.says) ? found : [...found, one];

function after(run: Run, event: StreamEvent): Run {
  const { stage } = event;
  const old = run.stages.find((s) => s.stage === stage);
  switch (event.event) {
    case "start": {
      const seen: StageSeen = { stage, state: "running", preview: "", seconds: null };
      const isAgain = stage === "prepare"; // the language model failed: the stages run again without it
      return isAgain ? { ...run, stages: [seen], statements: [] } : { ...run, stages: withStage(run.stages, seen) };
    }
    case "end": {
      const state = old?.state === "failed" ? "failed" : "done";
      const seen: StageSeen = { stage, state, preview: event.preview ?? "", seconds: event.seconds ?? null };
      return { ...run, stages: withStage(run.stages, seen) };
    }
    case "failure": {
      const failure = { stage, kind: "", message: event.message ?? "", fallback: event.fallback ?? "" };
      const seen: StageSeen = { stage, state: "failed", preview: old?.preview ?? "", seconds: old?.seconds ?? null };
      return { ...run, stages: withStage(run.stages, seen), failures: [...run.failures, failure] };
    }
    case "statement":
      return event.statement ? { ...run, statements: withStatement(run.statements, event.statement) } : run;
    case "token":
      return { ...run, draft: run.draft + (event.token ?? "") };
    case "restart":
      return { ...run, draft: "" };
    default:
      return run;
  }
}

function withProblem(run: Run, problem: Problem): Run {
  const stages = run.stages.map((s) => (s.state === "running" ? { ...s, state: "failed" as const } : s));
  return { ...run, status: "failed", stages, problem };
}

export interface Runner {
  run: Run;
  ask: (question: Question) => void;
  stop: () => void;
  /** Shows a stored answer instead of a run. */
  show: (asked: Question, result: Reply) => void;
}

/** One question at a time; a new one ends the one under way. */
export function useRun(): Runner {
  const [run, setRun] = useState<Run>(IDLE);
  const under = useRef<AbortController | null>(null);

  const stop = useCallback(() => {
    under.current?.abort();
    under.current = null;
    setRun(IDLE);
  }, []);

  const ask = useCallback((question: Question) => {
    under.current?.abort();
    const own = new AbortController();
    under.current = own;
    setRun({ ...IDLE, status: "running", asked: question });
    const mine = (change: (old: Run) => Run) => under.current === own && setRun(change);
    stream(question, (event) => mine((old) => after(old, event)), own.signal).then(
      (result) => mine((old) => ({ ...old, status: "done", result })),
      (error: unknown) => mine((old) => withProblem(old, problemOf(error))),
    );
  }, []);

  const show = useCallback((asked: Question, result: Reply) => {
    under.current?.abort();
    under.current = null;
    setRun({ ...IDLE, status: "done", asked, result });
  }, []);

  return { run, ask, stop, show };
}
