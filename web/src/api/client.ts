/** Requests to this server, and its errors as `Problem`. */

import { hintFor } from "../lib/hints";

const KEY = "disco-rag-key";

export class Problem extends Error {
  constructor(
    message: string,
    readonly hint: string,
    readonly status: number,
  ) {
    super(message);
  }
}

export const storedKey = (): string => sessionStorage.getItem(KEY) ?? "";

export function keepKey(key: string): void {
  if (key) sessionStorage.setItem(KEY, key);
  else sessionStorage.removeItem(KEY);
}

export function headers(more: Record<string, string> = {}): Record<string, string> {
  const key = storedKey();
  return key ? { ...more, Authorization: `Bearer ${key}` } : more;
}

interface ProblemBody {
  error?: { type?: string; message?: string; hint?: string };
}

export function problemFrom(body: string, status: number): Problem {
  try {
    const error = (JSON.parse(body) as ProblemBody).error;
    if (error?.message) return new Problem(error.message, hintFor(error.type ?? "", error.hint ?? ""), status);
  } catch {
    // not JSON: the general message follows
  }
  return new Problem(`The server answered with status ${status}.`, "Try again; the server's log may say more.", status);
}

export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem("The server could not be reached.", "Check that it is running, then try again.", 0);
}

export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const given = (init.headers ?? {}) as Record<string, string>;
  const response = await fetch(path, { ...init, headers: headers(given) });
  if (!response.ok) throw problemFrom(await response.text(), response.status);
  return response;
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await send(path, { signal: signal ?? null })).json() as Promise<T>;
}

export async function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const init = { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  return (await send(path, { ...init, signal: signal ?? null })).json() as Promise<T>;
}
