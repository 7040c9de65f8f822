import { headers, Problem, problemFrom } from "./client";
import type { DocumentsRead, Preliminary, Question, StreamEvent } from "./open";
import type { Audit, Reply } from "./types";

interface Message {
  event: string;
  data: string;
}

function parseMessage(block: string): Message {
  const message = { event: "message", data: "" };
  for (const line of block.split(/\r?\n/)) {
    if (line.startsWith("event:")) message.event = line.slice(6).trim();
    else if (line.startsWith("data:")) message.data += line.slice(5).replace(/^ /, "");
  }
  return message;
}

async function* messages(body: ReadableStream<Uint8Array>): AsyncGenerator<Message> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let waiting = "";
  for (;;) {
    const { done, value } = await reader.read();
    waiting += done ? decoder.decode() : decoder.decode(value, { stream: true });
    const blocks = waiting.split(/\r?\n\r?\n/);
    waiting = blocks.pop() ?? "";
    for (const block of blocks) if (block.trim()) yield parseMessage(block);
    if (done) break;
  }
  if (waiting.trim()) yield parseMessage(waiting);
}

/** The server's events for a request, as they come; an error of the server is raised. */
async function* events(path: string, body: unknown, signal: AbortSignal): AsyncGenerator<Message> {
  const response = await fetch(path, {
    method: "POST",
    body: JSON.stringify(body),
    headers: headers({ "Content-Type": "application/json", Accept: "text/event-stream" }),
    signal,
  });
  if (!response.ok || !response.body) throw problemFrom(await response.text(), response.status);
  for await (const message of messages(response.body)) {
    if (message.event === "error") throw problemFrom(message.data, 500);
    yield message;
  }
}

/** The answer; `onEvent` gets stages and words as they come. */
export async function stream(
  question: Question,
  onEvent: (event: StreamEvent) => void,
  signal: AbortSignal,
): Promise<Reply> {
  for await (const { event, data } of events("ask", question, signal)) {
    if (event === "answer") return JSON.parse(data) as Reply;
    if (event === "preliminary") onEvent({ event, stage: "quote", preliminary: JSON.parse(data) as Preliminary });
    else if (data) onEvent(JSON.parse(data) as StreamEvent);
  }
  throw new Problem("The answer was interrupted.", "Ask again.", 500);
}

/** The audit of a corpus; `progress` hears how many documents were read. */
export async function runAudit(corpus: string, progress: (at: DocumentsRead) => void, signal: AbortSignal): Promise<Audit> {
  for await (const { event, data } of events("audit", { corpus }, signal)) {
    if (event === "audit") return JSON.parse(data) as Audit;
    if (event === "progress") progress(JSON.parse(data) as DocumentsRead);
  }
  throw new Problem("The audit was interrupted.", "Run it again.", 500);
}
