import { get, headers, post, problemFrom, Problem, send } from "./client";
import type { Question } from "./open";
import type { Audit, Chunk, Corpus, DocumentText, Options, Progress, Reply, Session, StoredDocument } from "./types";

const within = (corpus: string): string => `corpus=${encodeURIComponent(corpus)}`;

export const session = (): Promise<Session> => get("session");

export async function corpora(): Promise<Corpus[]> {
  return (await get<{ corpora: Corpus[] }>("corpora")).corpora;
}

export function documents(corpus: string, offset = 0, limit = 200): Promise<{ total: number; documents: StoredDocument[] }> {
  return get(`documents?${within(corpus)}&offset=${offset}&limit=${limit}`);
}

const kept = new Map<string, Promise<unknown>>();

function once<T>(path: string): Promise<T> {
  const known = kept.get(path);
  if (known) return known as Promise<T>;
  const asked = get<T>(path);
  kept.set(path, asked);
  asked.catch(() => kept.delete(path));
  return asked;
}

/** Counts the changes of documents and of the key: what was loaded before one is loaded again. */
export let changes = 0;

export function forgetDocuments(): void {
  kept.clear();
  changes += 1;
}

export const documentText = (corpus: string, id: string): Promise<DocumentText> =>
  once(`documents/${id}/text?${within(corpus)}`);

/** The PDF that a document was read from. */
export const originalFile = async (corpus: string, id: string): Promise<ArrayBuffer> =>
  (await send(`documents/${id}/file?${within(corpus)}`)).arrayBuffer();

export const chunksOf = (corpus: string, id: string): Promise<Chunk[]> => once(`trees/${id}?${within(corpus)}`);

const AT_ONCE = 100;

/** Passages by their ids; a request that fails leaves out all of its ids. */
export async function passagesOf(corpus: string, ids: string[]): Promise<Chunk[]> {
  const parts = Array.from({ length: Math.ceil(ids.length / AT_ONCE) }, (_, i) => ids.slice(i * AT_ONCE, (i + 1) * AT_ONCE));
  const found = parts.map((part) => get<Chunk[]>(`chunks?${new URLSearchParams([["corpus", corpus], ...part.map((id) => ["id", id])])}`));
  return (await Promise.allSettled(found)).flatMap((one) => (one.status === "fulfilled" ? one.value : []));
}

export async function removeDocument(corpus: string, id: string): Promise<void> {
  await send(`documents/${id}?${within(corpus)}`, { method: "DELETE" });
}

export const ask = (question: Question, signal?: AbortSignal): Promise<Reply> => post("ask", question, signal);

export const runAudit = (corpus: string, signal: AbortSignal): Promise<Audit> => post("audit", { corpus }, signal);
export const lastAudit = (corpus: string): Promise<Audit> => get(`audit?${within(corpus)}`);

/** Settles a finding with a note; null opens it again. */
export async function settleFinding(corpus: string, id: string, note: string | null): Promise<void> {
  const headers = { "Content-Type": "application/json" };
  await send(`audit/${id}?${within(corpus)}`, { method: "PUT", body: JSON.stringify({ note }), headers });
}

export const job = (id: string): Promise<Progress> => get(`ingest/${id}`);

export async function cancelJob(id: string): Promise<Progress> {
  return (await send(`ingest/${id}`, { method: "DELETE" })).json() as Promise<Progress>;
}

/** fetch does not report how much was sent; XMLHttpRequest does. */
export function upload(
  files: File[],
  corpus: string,
  sent: (share: number) => void,
  signal: AbortSignal,
): Promise<Progress> {
  const form = new FormData();
  files.forEach((file) => form.append("files", file));
  form.append("corpus", corpus);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", "ingest");
    Object.entries(headers()).forEach(([name, value]) => request.setRequestHeader(name, value));
    request.upload.onprogress = (event) => event.lengthComputable && sent(event.loaded / event.total);
    request.onload = () => {
      if (request.status === 202) resolve(JSON.parse(request.responseText) as Progress);
      else reject(problemFrom(request.responseText, request.status));
    };
    request.onerror = () => reject(new Problem("The upload was interrupted.", "Check the connection, then try again.", 0));
    request.onabort = () => reject(new Problem("The upload was cancelled.", "", 0));
    signal.addEventListener("abort", () => request.abort());
    request.send(form);
  });
}

export interface Choices {
  presets: string[];
  retrievers: string[];
}

interface OpenApi {
  components: { schemas: { Options: { properties: Record<string, { enum?: string[] }> } } };
}

/** The names that this server knows, its plugins' among them. */
export async function choices(): Promise<Choices> {
  const { properties } = (await once<OpenApi>("openapi.json")).components.schemas.Options;
  return { presets: properties.preset?.enum ?? [], retrievers: properties.retriever?.enum ?? [] };
}

export const presetSwitches = (preset: string): Options => (preset === "auto" ? {} : { preset });
