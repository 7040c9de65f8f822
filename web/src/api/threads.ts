import { get, post, send } from "./client";
import type { Question, ThreadState } from "./open";
import type { Reply, Thread } from "./types";

/** The threads of the key's tenant, the latest first; those without a title are plans that were edited. */
export const threads = (): Promise<Thread[]> => get("threads");

export const newThread = async (corpus: string): Promise<string> => (await post<Thread>("threads", { corpus })).id;

/** The answers of a conversation, the earliest first. */
export const turnsOf = (thread: string): Promise<Reply[]> => get(`threads/${thread}/turns`);

/** A new thread that asks the question and stops before the answer is written. */
export async function startThread(question: Question): Promise<{ id: string; state: ThreadState }> {
  const { id } = await post<{ id: string }>("threads", { corpus: question.corpus });
  const { query, switches } = question;
  const state = await post<ThreadState>(`threads/${id}/runs`, { query, switches, stop_before: ["generate"] });
  return { id, state };
}

/** Puts another plan in at a checkpoint that stands before the writing, and writes from there. */
export async function writeFrom(thread: string, checkpoint: string, plan: string): Promise<ThreadState> {
  await post(`threads/${thread}/state`, { plan, checkpoint }, "PATCH");
  return post(`threads/${thread}/runs`, {});
}

/** The states of a thread, the latest first. */
export const historyOf = (thread: string): Promise<ThreadState[]> => get(`threads/${thread}/history?limit=200`);

export async function forgetThread(thread: string): Promise<void> {
  await send(`threads/${thread}`, { method: "DELETE" });
}
