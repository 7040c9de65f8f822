/** What the API's schema leaves open: the events of streams; and what the page asks. */

import type { Options, Statement } from "./types";

export interface Question {
  query: string;
  corpus: string;
  switches: Options;
  /** The thread that stores it. */
  thread?: string;
}

export interface StreamEvent {
  event: "start" | "end" | "failure" | "token" | "restart" | "statement";
  stage: string;
  preview?: string;
  seconds?: number;
  token?: string;
  message?: string;
  fallback?: string;
  statement?: Statement;
}
