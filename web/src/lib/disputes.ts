import type { Answer, AnswerSentence, Disagreement, Namesake } from "../api/types";
import { overlap } from "./text";

export type SideName = "a" | "b";

/** Whether a sentence tells a side: its statement, or its words. */
function tells(sentence: AnswerSentence, pair: Disagreement | Namesake, side: SideName): boolean {
  const statement = pair.statements[side === "a" ? 0 : 1];
  if (statement !== undefined && sentence.statements.includes(statement)) return true;
  const { doc_id, span } = pair[side];
  return sentence.evidence.some((e) => e.doc_id === doc_id && overlap(e.span, span));
}

/** The disagreements of which a sentence tells a side. */
export const disputes = (answer: Answer, sentence: AnswerSentence): Disagreement[] =>
  answer.disagreements.filter((d) => tells(sentence, d, "a") || tells(sentence, d, "b"));

/** The indices of the sentences that tell this side of a disagreement. */
export const tellers = (answer: Answer, pair: Disagreement | Namesake, side: SideName): number[] =>
  answer.sentences.flatMap((sentence, at) => (tells(sentence, pair, side) ? [at] : []));

/** The side that the answer follows comes first, else the one that it tells first. */
export function inOrder(answer: Answer, found: Disagreement): [SideName, SideName] {
  const first = (side: SideName) => tellers(answer, found, side)[0] ?? Infinity;
  const isSecond = found.favoured ? found.favoured === "b" : first("b") < first("a");
  return isSecond ? ["b", "a"] : ["a", "b"];
}

/** Each thing with those of the same name. */
export function namesakesOf({ namesakes }: Answer): Namesake[][] {
  const groups = new Map<string, Namesake[]>();
  for (const pair of namesakes) {
    const key = `${pair.a.doc_id} ${pair.a.span.start} ${pair.a.span.end}`;
    groups.set(key, [...(groups.get(key) ?? []), pair]);
  }
  return [...groups.values()];
}
