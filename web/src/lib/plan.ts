/** The steps of a plan while a person edits them, and the text that the server reads. */

import type { Plan, PlanStep } from "../api/types";

export interface Step extends Pick<PlanStep, "text" | "role" | "statements"> {
  /** Names the step while it is moved and edited. */
  id: number;
}

/** The steps of a plan; a plan without known steps is one step. */
export function stepsOf({ paragraph, steps }: Plan): Step[] {
  if (!steps.length) return paragraph ? [{ id: 0, text: paragraph, role: null, statements: [] }] : [];
  return steps.map(({ text, role, statements }, id) => ({ id, text, role, statements }));
}

const oneLine = (text: string): string => text.split(/\s+/).filter(Boolean).join(" ");

/** A plan over statements has a line for each step, `1. answers: What it says {2}`; another plan is a paragraph. */
export function planText(steps: Step[]): string {
  const filled = steps.map((step) => ({ ...step, text: oneLine(step.text) }));
  if (filled.some(({ role }) => role === null)) {
    return filled.map(({ text }) => text).filter(Boolean).join(" ");
  }
  return filled.map(({ role, text, statements }, at) => `${at + 1}. ${role}: ${text} {${statements.join(", ")}}`).join("\n");
}

const OPENER = /^(Start with|Then|Next,|After that,)(?= )/;
const OPENERS = ["Then", "Next,", "After that,"];

/** Steps in another order, each with an opener for its place, if the plan has openers. */
function reconnected(steps: Step[]): Step[] {
  if (!steps.some(({ text, role }) => role === null && OPENER.test(text))) return steps;
  return steps.map((step, at) => {
    const word = at === 0 ? "Start with" : (OPENERS[(at - 1) % OPENERS.length] ?? "Then");
    return { ...step, text: step.text.replace(OPENER, word) };
  });
}

/** The steps with the one at `from` at the place `to`. */
export function moved(steps: Step[], from: number, to: number): Step[] {
  const next = [...steps];
  const [step] = next.splice(from, 1);
  if (step) next.splice(to, 0, step);
  return reconnected(next);
}

/** The steps without the one at a place. */
export const without = (steps: Step[], at: number): Step[] => reconnected(steps.filter((_, i) => i !== at));
