import { useCallback, useEffect, useRef, useState } from "react";
import { problemOf } from "../api/client";
import type { Question } from "../api/open";
import { forgetThread, newThread, threads, turnsOf } from "../api/threads";
import type { Reply, Thread } from "../api/types";
import type { Route } from "../lib/route";

export interface Threads {
  /** All conversations that have a question, the latest first. */
  all: Thread[];
  /** The answers of the one that is open, the earliest first. */
  turns: Reply[];
  /** The id under which the next question of a corpus is stored; empty if no thread could be created. */
  begin: (corpus: string) => Promise<string>;
  /** Reads the list and the open conversation again. */
  refresh: () => void;
  forget: (id: string) => void;
}

/** The conversations that the server stores; the address names the open one and the question that is shown of it.
 * `askLinked` asks the question of the address. */
export function useThreads(
  open: boolean,
  route: Route,
  go: (patch: Partial<Route>) => void,
  show: (question: Question, reply: Reply) => void,
  askLinked: () => void,
): Threads {
  const [all, setAll] = useState<Thread[]>([]);
  const [turns, setTurns] = useState<Reply[]>([]);
  const [round, setRound] = useState(0);
  /** The thread whose answer is on the page. */
  const current = useRef({ id: "", corpus: "" });
  const id = route.thread;

  useEffect(() => {
    if (!open) return undefined;
    let live = true;
    if (!id) {
      current.current = { id: "", corpus: "" };
      setTurns([]);
    }
    const showOpened = (found: Reply[], corpus: string) => {
      if (!id || current.current.id === id) return;
      current.current = { id, corpus };
      const turn = route.q ? found.findLast(({ answer }) => answer.query === route.q) : found.at(-1);
      if (!turn) return void (route.q && askLinked());
      go({ q: turn.answer.query, corpus });
      show({ query: turn.answer.query, corpus, switches: {} }, turn);
    };
    Promise.all([threads(), id ? turnsOf(id) : []]).then(
      ([listed, found]) => {
        if (!live) return;
        setAll(listed.filter(({ title }) => title));
        setTurns(found);
        showOpened(found, listed.find((thread) => thread.id === id)?.corpus ?? route.corpus);
      },
      (error: unknown) => {
        if (!live || problemOf(error).status !== 404) return;
        go({ thread: "" });
        if (route.q && current.current.id !== id) askLinked();
      },
    );
    return () => {
      live = false;
    };
  }, [open, id, round]);

  const begin = useCallback(
    async (corpus: string) => {
      if (id && current.current.id === id && current.current.corpus === corpus) return id;
      const created = await newThread(corpus).catch(() => "");
      current.current = { id: created, corpus };
      return created;
    },
    [id],
  );
  const refresh = useCallback(() => setRound((n) => n + 1), []);
  const forget = useCallback(
    (gone: string) => {
      if (gone === id) go({ thread: "" });
      forgetThread(gone).then(refresh, refresh);
    },
    [id, go, refresh],
  );
  return { all, turns, begin, refresh, forget };
}
