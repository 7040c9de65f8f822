export interface Step {
  text: string;
  /** One-based numbers of the passages that it cites. */
  chunks: number[];
}

const REFERENCE = /(?<!\\)\[(\d{1,4})(?:\.\d{1,4}(?:-\d{1,4})?)?\](?!\()/g;

export function cited(text: string): number[] {
  return [...new Set([...text.matchAll(REFERENCE)].map((match) => Number(match[1])))];
}

/** The sentences of a plan that is being edited; the server's own reading of them counts where the two differ. */
export function stepsOf(paragraph: string): Step[] {
  const parts = paragraph.split(/(?<=\][.!?]|[.!?。！？]["”’)]?)\s+(?=\p{Lu}|\p{Lo}|["“(])/u);
  return joinParts(parts.filter((part) => part.trim())).map((text) => ({ text, chunks: cited(text) }));
}

/** A sentence of the plan that quotes several keeps them until its own citation comes. */
function joinParts(parts: string[]): string[] {
  if (!parts.some((part) => cited(part).length)) return parts;
  const whole: string[] = [];
  let open = "";
  for (const part of parts) {
    open = open ? `${open} ${part}` : part;
    if (!cited(part).length) continue;
    whole.push(open);
    open = "";
  }
  return open ? [...whole, open] : whole;
}

const OPENERS = ["Then", "Next,", "After that,"];

/** Steps in another order, each with an opener for its place, if the plan has openers. */
export function reconnected(steps: Step[]): Step[] {
  const opener = /^(Start with|Then|Next,|After that,)(?= )/;
  if (!steps.some(({ text }) => opener.test(text))) return steps;
  return steps.map((step, at) => {
    const word = at === 0 ? "Start with" : (OPENERS[(at - 1) % OPENERS.length] ?? "Then");
    return { ...step, text: step.text.replace(opener, word) };
  });
}
