import { useState } from "react";
import { forgetThread, goOn, startThread } from "../../api/calls";
import { Problem, problemOf } from "../../api/client";
import type { Answer, Question } from "../../api/types";

export interface PlanRun {
  busy: boolean;
  answer: Answer | null;
  problem: Problem | null;
  regenerate: (question: Question, plan: string) => void;
}

async function answered(question: Question, plan: string): Promise<Answer> {
  const { id, state } = await startThread(question);
  try {
    if (!state.next.length) throw new Problem("This time the run ended before it was written.", "Ask the question again.", 0);
    const { answer } = (await goOn(id, plan)).values;
    if (!answer) throw new Problem("The run ended without an answer.", "Ask the question again.", 0);
    return answer;
  } finally {
    await forgetThread(id).catch(() => undefined);
  }
}

/** Runs the question once more up to the writing, puts the edited plan in, and lets it go on. */
export function usePlanRun(): PlanRun {
  const [state, setState] = useState<Omit<PlanRun, "regenerate">>({ busy: false, answer: null, problem: null });
  const regenerate = (question: Question, plan: string) => {
    setState((old) => ({ ...old, busy: true, problem: null }));
    answered(question, plan).then(
      (answer) => setState({ busy: false, answer, problem: null }),
      (error: unknown) => setState((old) => ({ ...old, busy: false, problem: problemOf(error) })),
    );
  };
  return { ...state, regenerate };
}
