import type { ReactNode } from "react";
import type { Answer } from "../api/types";
import { against } from "../lib/against";
import { NO_ANSWER } from "../lib/report";
import { SupportFlag } from "./SupportFlag";

interface Props {
  title: string;
  answer: Answer | null;
  /** Sentences that this one does not have are marked. */
  other: Answer | null;
  children?: ReactNode;
}

const textsOf = (answer: Answer | null): string[] => answer?.sentences.map((s) => s.text) ?? [];

export function AnswerColumn({ title, answer, other, children }: Props) {
  const sentences = answer?.sentences ?? [];
  const told = other ? against(textsOf(answer), textsOf(other)) : textsOf(answer).map((text) => ({ text, only: false }));
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
              <bdi className={told[at]?.only ? "only" : ""}>{sentence.text}</bdi>
              <SupportFlag sentence={sentence} />{" "}
            </span>
          ))}
        </p>
      )}
      {children}
    </section>
  );
}
