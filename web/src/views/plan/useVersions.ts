import { useState } from "react";
import { ask } from "../../api/calls";
import { problemOf, type Problem } from "../../api/client";
import type { Question } from "../../api/open";
import type { Answer } from "../../api/types";

/** An answer that was written from an edited plan. */
export interface Version {
  plan: string;
  answer: Answer;
  /** Index of the version whose plan was changed; null: the first plan. */
  after: number | null;
}

export interface Versions {
  busy: boolean;
  problem: Problem | null;
  versions: Version[];
  /** Index of the version that is shown and continued from; null: the first answer. */
  at: number | null;
  choose: (at: number | null) => void;
  write: (plan: string) => void;
}

/** By question and first plan; they stay until the page is loaded again. */
const stored = new Map<string, Version[]>();

/** The answers to a question that were written from changed plans. */
export function useVersions({ query, corpus, switches }: Question, first: string): Versions {
  const key = JSON.stringify([query, corpus, switches, first]);
  const [versions, setVersions] = useState(stored.get(key) ?? []);
  const [at, setAt] = useState(versions.length ? versions.length - 1 : null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);

  const write = (plan: string) => {
    setBusy(true);
    setProblem(null);
    ask({ query, corpus, switches: { ...switches, plan } })
      .then(({ answer }) => {
        const all = [...versions, { plan, answer, after: at }];
        stored.set(key, all);
        setVersions(all);
        setAt(all.length - 1);
      })
      .catch((error: unknown) => setProblem(problemOf(error)))
      .finally(() => setBusy(false));
  };
  return { busy, problem, versions, at, choose: setAt, write };
}
