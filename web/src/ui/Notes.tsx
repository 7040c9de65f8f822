import type { ReactNode } from "react";
import { Button } from "react-aria-components";
import type { Problem } from "../api/client";

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
