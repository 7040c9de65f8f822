import { get, post, send } from "./client";
import type { Reply, Thread } from "./types";

/** The threads of the key's tenant, the latest first. */
export const threads = (): Promise<Thread[]> => get("threads");

export const newThread = async (corpus: string): Promise<string> => (await post<Thread>("threads", { corpus })).id;

/** The answers of a conversation, the earliest first. */
export const turnsOf = (thread: string): Promise<Reply[]> => get(`threads/${thread}/turns`);

export async function forgetThread(thread: string): Promise<void> {
  await send(`threads/${thread}`, { method: "DELETE" });
}
