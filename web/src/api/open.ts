/** What the API's schema leaves open: the events of streams; and what the page asks. */

import type { Options, Reply } from "./types";

export interface Question {
  query: string;
  corpus: string;
  switches: Options;
  /** The thread that stores it. */
  thread?: string;
}

/** The answer of the sources' own sentences, while a language model writes. */
export type Preliminary = Pick<Reply, "answer" | "text" | "steps" | "sources" | "citations">;

export interface StreamEvent {
  event: "start" | "end" | "failure" | "token" | "restart" | "preliminary";
  stage: string;
  preview?: string;
  seconds?: number;
  token?: string;
  message?: string;
  fallback?: string;
  preliminary?: Preliminary;
}
