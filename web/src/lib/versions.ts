import type { ThreadState } from "../api/open";
import type { Answer } from "../api/types";

/** An answer that a thread holds, with the plan that it was written from. */
export interface Version {
  /** The checkpoint before the writing: it is continued from there. */
  from: string;
  plan: string;
  answer: Answer;
  created: string;
  /** Index of the version whose plan was changed; null: the first plan. */
  after: number | null;
}

/** Where the first plan stands, and the answers that were written from edited ones, the oldest first. */
export function versionsOf(latestFirst: ThreadState[]): { base: string; versions: Version[] } {
  const stops: ThreadState[] = [];
  const versions: Version[] = [];
  for (const state of [...latestFirst].reverse()) {
    if (state.next[0] === "generate") stops.push(state);
    const stop = stops.at(-1);
    const { answer } = state.values;
    if (state.next.length || !answer || !stop) continue;
    const after = versions.findIndex((version) => version.from === stop.parent);
    const plan = stop.values.plan ?? answer.plan?.paragraph ?? "";
    versions.push({ from: stop.checkpoint, plan, answer, created: state.created, after: after < 0 ? null : after });
  }
  return { base: stops[0]?.checkpoint ?? "", versions };
}
