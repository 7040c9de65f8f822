import { useCallback, useEffect, useRef, useState } from "react";
import { problemOf } from "../api/client";
import type { Question } from "../api/open";
import { forgetThread, newThread, threads, turnsOf } from "../api/threads";
import type { Reply, Thread } from "../api/types";
import type { Route } from "../lib/route";

export interface Talk {
  /** All conversations that have a question, the latest first. */
  all: Thread[];
  /** The answers of the one that is open, the earliest first. */
  turns: Reply[];
  /** The id under which the next question is kept; empty if none could be made. */
  begin: (corpus: string) => Promise<string>;
  /** Reads the list and the open conversation again. */
  refresh: () => void;
  forget: (id: string) => void;
}

/** The conversations that the server keeps; the address names the open one. */
export function useTalk(open: boolean, route: Route, go: (patch: Partial<Route>) => void, show: (question: Question, reply: Reply) => void): Talk {
  const [all, setAll] = useState<Thread[]>([]);
  const [turns, setTurns] = useState<Reply[]>([]);
  const [round, setRound] = useState(0);
  /** What this page asked itself is shown already. */
  const own = useRef("");

  useEffect(() => {
    if (!open) return undefined;
    let live = true;
    threads().then((found) => live && setAll(found.filter(({ title }) => title)), () => undefined);
    return () => {
      live = false;
    };
  }, [open, round]);

  useEffect(() => {
    if (!open || !route.talk) {
      own.current = "";
      setTurns([]);
      return undefined;
    }
    let live = true;
    turnsOf(route.talk).then(
      (found) => {
        if (!live) return;
        setTurns(found);
        const last = found.at(-1);
        if (last && own.current !== route.talk) show({ query: last.answer.query, corpus: route.corpus, switches: {} }, last);
        own.current = route.talk;
      },
      (error: unknown) => live && problemOf(error).status === 404 && go({ talk: "" }),
    );
    return () => {
      live = false;
    };
  }, [open, route.talk, round]);

  const begin = useCallback(
    async (corpus: string) => {
      if (route.talk) return route.talk;
      const id = await newThread(corpus).catch(() => "");
      own.current = id;
      return id;
    },
    [route.talk],
  );
  const refresh = useCallback(() => setRound((n) => n + 1), []);
  const forget = (id: string) => {
    if (id === route.talk) go({ talk: "" });
    forgetThread(id).then(refresh, refresh);
  };
  return { all, turns, begin, refresh, forget };
}
