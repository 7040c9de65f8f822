import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { forgetThread, historyOf, startThread, writeFrom } from "../../api/threads";
import { Problem, problemOf } from "../../api/client";
import type { Question, ThreadState } from "../../api/open";
import { versionsOf, type Version } from "../../lib/versions";
import { useApp } from "../../state/app";

export interface Versions {
  busy: boolean;
  problem: Problem | null;
  versions: Version[];
  /** Index of the version that is shown and continued from; null: the first answer. */
  at: number | null;
  choose: (at: number | null) => void;
  write: (plan: string) => void;
  forget: () => void;
}

const GONE = 404;

/** The thread that holds the question: made when a plan is first edited, found again by its id in the address. */
export function useVersions(question: Question): Versions {
  const { route, go } = useApp();
  const [states, setStates] = useState<ThreadState[]>([]);
  const [at, setAt] = useState<number | null>(null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const held = useRef("");
  const { base, versions } = useMemo(() => versionsOf(states), [states]);

  const read = useCallback(async (thread: string) => {
    const found = await historyOf(thread);
    held.current = thread;
    setStates(found);
    const { length } = versionsOf(found).versions;
    setAt(length ? length - 1 : null);
  }, []);

  useEffect(() => {
    if (route.versions === held.current) return;
    if (!route.versions) {
      held.current = "";
      setStates([]);
      setAt(null);
      return;
    }
    read(route.versions).catch((error: unknown) => {
      const found = problemOf(error);
      if (found.status === GONE) go({ versions: "" });
      else setProblem(found);
    });
  }, [route.versions, read, go]);

  const begun = async (): Promise<{ thread: string; checkpoint: string }> => {
    const { id, state } = await startThread(question);
    if (state.next[0] === "generate") return { thread: id, checkpoint: state.checkpoint };
    await forgetThread(id).catch(() => undefined);
    throw new Problem("The run ended before the answer was written.", "Ask the question again.", 0);
  };

  const written = async (plan: string) => {
    const from = (at === null ? undefined : versions[at]?.from) ?? base;
    const { thread, checkpoint } = route.versions && from ? { thread: route.versions, checkpoint: from } : await begun();
    const { answer } = (await writeFrom(thread, checkpoint, plan)).values;
    if (!answer) throw new Problem("The run ended without an answer.", "Ask the question again.", 0);
    await read(thread);
    go({ versions: thread });
  };

  return {
    busy,
    problem,
    versions,
    at,
    choose: setAt,
    write: (plan) => {
      setBusy(true);
      setProblem(null);
      written(plan)
        .catch((error: unknown) => setProblem(problemOf(error)))
        .finally(() => setBusy(false));
    },
    forget: () => {
      void forgetThread(route.versions).catch(() => undefined);
      held.current = "";
      setStates([]);
      setAt(null);
      go({ versions: "" });
    },
  };
}
