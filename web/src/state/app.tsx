import { createContext, useCallback, useContext, useEffect, useMemo, useState, type ReactNode } from "react";
import * as calls from "../api/calls";
import { keepKey, type Problem } from "../api/client";
import type { Question } from "../api/open";
import type { Corpus, Reply, Session } from "../api/types";
import { firstCorpus } from "../lib/examples";
import { hashOf, routeOf, type Route } from "../lib/route";
import { useLoaded } from "./useLoaded";
import { usePassages, type Passages } from "./usePassages";
import { useTalk, type Talk } from "./useTalk";
import { useRun, type Run } from "./useRun";

export interface App {
  route: Route;
  go: (patch: Partial<Route>) => void;
  session: Session | null;
  sessionProblem: Problem | null;
  signIn: (key: string) => void;
  canWrite: boolean;
  corpora: Corpus[] | null;
  corporaProblem: Problem | null;
  refreshCorpora: () => void;
  corpus: string;
  choices: calls.Choices;
  run: Run;
  ask: (query: string, corpus: string, preset: string) => void;
  stop: () => void;
  talk: Talk;
  /** Shows an answer of the open conversation again. */
  showTurn: (reply: Reply) => void;
  /** Leaves the question and its conversation. */
  restart: (within?: string) => void;
  passages: Passages;
}

const Context = createContext<App | null>(null);

export function useApp(): App {
  const app = useContext(Context);
  if (!app) throw new Error("useApp is used outside of Shared.");
  return app;
}

function useRoute(): [Route, (patch: Partial<Route>) => void] {
  const [route, setRoute] = useState(() => routeOf(location.hash));
  useEffect(() => {
    const changed = () => setRoute(routeOf(location.hash));
    window.addEventListener("hashchange", changed);
    return () => window.removeEventListener("hashchange", changed);
  }, []);
  const go = useCallback((patch: Partial<Route>) => {
    const old = routeOf(location.hash);
    const next = hashOf({ ...old, ...patch });
    if (next === location.hash) return;
    const sameView = (patch.view ?? old.view) === old.view;
    if (sameView) history.replaceState(null, "", next);
    else history.pushState(null, "", next);
    setRoute(routeOf(next));
  }, []);
  return [route, go];
}

/** A link that holds a question asks it when it is opened, and when the address changes to another. */
function useLinked(route: Route, corpus: string, asked: Question | null, start: (question: Question) => void): void {
  const [linked, setLinked] = useState(route.q !== "" && !route.talk);
  useEffect(() => {
    const changed = () => {
      const { q, talk } = routeOf(location.hash);
      setLinked(q !== "" && q !== asked?.query && !talk);
    };
    window.addEventListener("hashchange", changed);
    return () => window.removeEventListener("hashchange", changed);
  }, [asked]);
  useEffect(() => {
    if (!linked || !corpus) return;
    setLinked(false);
    start({ query: route.q, corpus, switches: calls.switchesOf(route.preset) });
  }, [linked, corpus, route, start]);
}

const DEFAULT: calls.Choices = { presets: ["default"], retrievers: [] };

export function Shared({ children }: { children: ReactNode }) {
  const [route, go] = useRoute();
  const [signed, setSigned] = useState(0);
  const session = useLoaded(`session ${signed}`, calls.session);
  const open = session.value ? `open ${signed}` : "";
  const corpora = useLoaded(open && `corpora ${open}`, calls.corpora);
  const choices = useLoaded(open && `choices ${open}`, calls.choices);
  const { run, ask: start, stop, show } = useRun();
  const corpus = route.corpus || firstCorpus(corpora.value ?? []);
  const passages = usePassages(run.result, run.asked?.corpus ?? "");

  const talk = useTalk(Boolean(session.value), route, go, show);
  const { begin, refresh } = talk;

  const ask = useCallback(
    (query: string, within: string, preset: string) => {
      void begin(within).then((thread) => {
        go({ q: query, corpus: within, preset, s: null, thread: "", talk: thread });
        start({ query, corpus: within, switches: calls.switchesOf(preset), ...(thread && { thread }) });
      });
    },
    [go, start, begin],
  );
  useEffect(() => {
    if (run.result && run.asked?.thread) refresh();
  }, [run.result, run.asked, refresh]);

  const showTurn = useCallback(
    (reply: Reply) => {
      go({ q: reply.answer.query, s: null });
      show({ query: reply.answer.query, corpus, switches: {} }, reply);
    },
    [go, show, corpus],
  );
  const restart = useCallback(
    (within?: string) => {
      stop();
      go({ q: "", s: null, talk: "", thread: "", view: "ask", ...(within && { corpus: within }) });
    },
    [go, stop],
  );

  useLinked(route, session.value ? corpus : "", run.asked, start);

  const { again } = corpora;
  const refreshCorpora = useCallback(() => {
    calls.forgetDocuments();
    again();
  }, [again]);

  const app = useMemo<App>(
    () => ({
      route,
      go,
      session: session.value,
      sessionProblem: session.problem,
      signIn: (key) => {
        keepKey(key);
        calls.forgetDocuments();
        stop();
        setSigned((n) => n + 1);
      },
      canWrite: session.value?.roles.includes("write") ?? false,
      corpora: corpora.value,
      corporaProblem: corpora.problem,
      refreshCorpora,
      corpus,
      choices: choices.value ?? DEFAULT,
      run,
      ask,
      stop,
      talk,
      showTurn,
      restart,
      passages,
    }),
    [route, go, session.value, session.problem, corpora.value, corpora.problem, refreshCorpora, corpus, choices.value, run, ask, stop, talk, showTurn, restart, passages],
  );
  return <Context.Provider value={app}>{children}</Context.Provider>;
}
