import { headers, Problem, problemFrom } from "./client";
import type { Question, StreamEvent } from "./open";
import type { Reply } from "./types";

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

/** The answer; `onEvent` gets stages and words as they come. An error of the server is raised. */
export async function stream(question: Question, onEvent: (event: StreamEvent) => void, signal: AbortSignal): Promise<Reply> {
  const response = await fetch("ask", {
    method: "POST",
    body: JSON.stringify(question),
    headers: headers({ "Content-Type": "application/json", Accept: "text/event-stream" }),
    signal,
  });
  if (!response.ok || !response.body) throw problemFrom(await response.text(), response.status);
  for await (const { event, data } of messages(response.body)) {
    if (event === "error") throw problemFrom(data, 500);
    if (event === "answer") return JSON.parse(data) as Reply;
    if (data) onEvent(JSON.parse(data) as StreamEvent);
  }
  throw new Problem("The answer was interrupted.", "Ask again.", 500);
}
