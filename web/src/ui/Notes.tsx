import type { ReactNode } from "react";
import { Button } from "react-aria-components";
import type { Problem } from "../api/client";
import type { Answer } from "../api/types";

export function ProblemNote({ problem, again }: { problem: Problem; again?: () => void }) {
  return (
    <div className="note bad-note" role="alert">
      <p className="note-lead">
        <bdi>{problem.message}</bdi>
      </p>
      {problem.hint && (
        <p>
          <bdi>{problem.hint}</bdi>
        </p>
      )}
      {again && (
        <Button className="button" onPress={again}>
          Try again
        </Button>
      )}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Why an answer has no graph or plan. */
export function NoneMade({ what, answer }: { what: string; answer: Answer }) {
  return (
    <Empty title={`There is no ${what}`}>
      <p>{answer.abstained ? "The documents do not answer this question." : "This preset answers without one."}</p>
    </Empty>
  );
}
