import { useCallback, useEffect, useRef, useState } from "react";
import * as calls from "../../api/calls";
import { Problem, problemOf } from "../../api/client";
import type { Progress } from "../../api/types";

const KEPT = "disco-rag-jobs";
const PAUSE = 700;

export interface Upload {
  id: number;
  files: File[];
  corpus: string;
  share: number;
  problem: Problem | null;
  end: AbortController;
  /** Whether sending it again may help. */
  again: boolean;
}

export const isUnderWay = (progress: Progress): boolean => ["waiting", "running"].includes(progress.job.status);

const keptIds = (): string[] => JSON.parse(sessionStorage.getItem(KEPT) ?? "[]") as string[];

export interface Jobs {
  uploads: Upload[];
  jobs: Progress[];
  problem: Problem | null;
  send: (files: File[], corpus: string) => void;
  endUpload: (upload: Upload) => void;
  cancel: (id: string) => void;
  dismiss: (id: string) => void;
}

/** Uploads and the ingest jobs of this tab; those under way are asked about until they end. */
export function useJobs(formats: string[], settled: () => void): Jobs {
  const [uploads, setUploads] = useState<Upload[]>([]);
  const [jobs, setJobs] = useState<Progress[]>([]);
  const [problem, setProblem] = useState<Problem | null>(null);
  const counter = useRef(0);
  const dismissed = useRef(new Set<string>());

  const put = useCallback(
    (progress: Progress) => {
      if (dismissed.current.has(progress.job.id)) return;
      setJobs((old) => {
        const rest = old.filter((other) => other.job.id !== progress.job.id);
        return [progress, ...rest];
      });
      if (!isUnderWay(progress)) settled();
    },
    [settled],
  );
  const follow = useCallback((asked: Promise<Progress>) => {
    setProblem(null);
    asked.then(put, (error: unknown) => setProblem(problemOf(error)));
  }, [put]);

  useEffect(() => {
    for (const id of keptIds()) calls.job(id).then(put, () => undefined);
  }, [put]);
  useEffect(() => sessionStorage.setItem(KEPT, JSON.stringify(jobs.map((p) => p.job.id))), [jobs]);
  useEffect(() => {
    const waiting = jobs.filter(isUnderWay);
    if (!waiting.length) return undefined;
    const timer = setTimeout(() => waiting.forEach((p) => follow(calls.job(p.job.id))), PAUSE);
    return () => clearTimeout(timer);
  }, [jobs, follow]);

  const change = (id: number, patch: Partial<Upload>) =>
    setUploads((old) => old.map((upload) => (upload.id === id ? { ...upload, ...patch } : upload)));
  const drop = (id: number) => setUploads((old) => old.filter((upload) => upload.id !== id));

  const added = (files: File[], corpus: string, problem: Problem | null): Upload => {
    counter.current += 1;
    const upload = { id: counter.current, files, corpus, share: 0, problem, end: new AbortController(), again: !problem };
    setUploads((old) => [upload, ...old]);
    return upload;
  };

  const send = (all: File[], corpus: string) => {
    const isKnown = (file: File) => formats.some((suffix) => file.name.toLowerCase().endsWith(suffix));
    for (const file of all.filter((one) => !isKnown(one))) {
      added([file], corpus, new Problem(`${file.name} cannot be read: its format is not known.`, `Supported formats: ${formats.join(", ")}.`, 415));
    }
    const files = all.filter(isKnown);
    if (!files.length) return;
    const upload = added(files, corpus, null);
    calls.upload(files, corpus, (share) => change(upload.id, { share }), upload.end.signal).then(
      (progress) => {
        drop(upload.id);
        put(progress);
      },
      (error: unknown) => change(upload.id, { problem: problemOf(error) }),
    );
  };
  return {
    uploads,
    jobs,
    problem,
    send,
    endUpload: (upload) => {
      if (upload.problem) drop(upload.id);
      else upload.end.abort();
    },
    cancel: (id) => follow(calls.cancelJob(id)),
    dismiss: (id) => {
      dismissed.current.add(id);
      setJobs((old) => old.filter((p) => p.job.id !== id));
    },
  };
}
