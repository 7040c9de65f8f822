import type { ReactNode } from "react";
import type { Answer } from "../api/types";
import { NO_ANSWER } from "../lib/words";
import { Checked, SupportFlag } from "./SupportFlag";

interface Props {
  title: string;
  answer: Answer | null;
  /** Sentences that this one does not have are marked. */
  other: Answer | null;
  children?: ReactNode;
}

const textsOf = (answer: Answer | null): string[] => answer?.sentences.map((s) => s.text.trim()) ?? [];

export function AnswerColumn({ title, answer, other, children }: Props) {
  const sentences = answer?.sentences ?? [];
  const there = new Set(textsOf(other));
  const isOnly = (text: string) => other !== null && !there.has(text.trim());
  return (
    <section className="panel answer-column" aria-label={title}>
      <h2>
        <bdi>{title}</bdi>
      </h2>
      {answer?.abstained && (
        <p className="prose refusal">
          {NO_ANSWER}
        </p>
      )}
      {answer && !answer.abstained && (
        <p className="prose" dir="auto">
          {sentences.map((sentence, at) => (
            <span key={at}>
              <bdi className={isOnly(sentence.text) ? "only" : ""}>{sentence.text}</bdi>
              <SupportFlag sentence={sentence} />{" "}
            </span>
          ))}
        </p>
      )}
      {answer && <Checked answer={answer} />}
      {children}
    </section>
  );
}
