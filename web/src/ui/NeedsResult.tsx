import type { ReactNode } from "react";
import type { Question } from "../api/open";
import type { Reply } from "../api/types";
import { useApp } from "../state/app";
import { Empty, ProblemNote } from "./Notes";
import { QuestionBar } from "./QuestionBar";

interface Props {
  what: string;
  children: (result: Reply, asked: Question) => ReactNode;
}

/** The question above, and below it what there is to see of its result. */
export function NeedsResult({ what, children }: Props) {
  const { run } = useApp();
  return (
    <>
      <QuestionBar />
      {run.status === "idle" && <Empty title={`Ask a question to see ${what}`} />}
      {run.status === "running" && <p className="quiet pad">In progress…</p>}
      {run.problem && <ProblemNote problem={run.problem} />}
      {run.result && run.asked && children(run.result, run.asked)}
    </>
  );
}
