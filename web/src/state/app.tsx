import { createContext, useCallback, useContext, useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import * as calls from "../api/calls";
import { keepKey, type Problem } from "../api/client";
import type { Question } from "../api/open";
import type { Corpus, Reply, Session } from "../api/types";
import { hashOf, routeOf, type Route } from "../lib/route";
import { useLoaded } from "./useLoaded";
import { usePassages, type Passages } from "./usePassages";
import { useThreads, type Threads } from "./useThreads";
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
  threads: Threads;
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
    const isStep = (patch.view ?? old.view) !== old.view || (old.q !== "" && (patch.q ?? old.q) !== old.q);
    if (isStep) history.pushState(null, "", next);
    else history.replaceState(null, "", next);
    setRoute(routeOf(next));
  }, []);
  return [route, go];
}

/** The corpus to open: the reader's own that was written last, else the first of the examples. */
function firstCorpus(corpora: Corpus[], examples: string[]): string {
  const rank = ({ name }: Corpus) => examples.indexOf(name);
  const filled = corpora.filter(({ documents }) => documents > 0);
  const latest = [...filled].sort((a, b) => (b.written ?? "").localeCompare(a.written ?? ""));
  const own = latest.find((corpus) => rank(corpus) < 0);
  const example = [...filled].sort((a, b) => rank(a) - rank(b)).at(0);
  return (own ?? example ?? corpora[0])?.name ?? "";
}

/** A link that holds a question and no thread asks it when it is opened, and when the address changes to another.
 * What is returned asks the question of the address. */
function useLinked(route: Route, corpus: string, asked: Question | null, start: (question: Question) => void): () => void {
  const [linked, setLinked] = useState(route.q !== "" && !route.thread);
  useEffect(() => {
    const changed = () => {
      const { q, thread } = routeOf(location.hash);
      setLinked(q !== "" && q !== asked?.query && !thread);
    };
    window.addEventListener("hashchange", changed);
    return () => window.removeEventListener("hashchange", changed);
  }, [asked]);
  useEffect(() => {
    if (!linked || !corpus) return;
    setLinked(false);
    const { q: query, thread } = route;
    start({ query, corpus, switches: calls.presetSwitches(route.preset), ...(thread && { thread }) });
  }, [linked, corpus, route, start]);
  return useCallback(() => setLinked(true), []);
}

const DEFAULT: calls.Choices = { presets: ["auto"], retrievers: [] };

export function Shared({ children }: { children: ReactNode }) {
  const [route, go] = useRoute();
  const [signed, setSigned] = useState(0);
  const session = useLoaded(`session ${signed}`, calls.session);
  const open = session.value ? `open ${signed}` : "";
  const corpora = useLoaded(open && `corpora ${open}`, calls.corpora);
  const choices = useLoaded(open && `choices ${open}`, calls.choices);
  const { run, ask: start, stop: abort, show } = useRun();
  const corpus = route.corpus || firstCorpus(corpora.value ?? [], Object.keys(session.value?.examples ?? {}));
  const passages = usePassages(run.result, run.asked?.corpus ?? "");

  const askLinked = useLinked(route, session.value ? corpus : "", run.asked, start);
  const threads = useThreads(Boolean(session.value), route, go, show, askLinked);
  const { begin, refresh, forget, turns } = threads;

  // Back and Forward, within a conversation or to its beginning:
  useEffect(() => {
    const moved = () => {
      const { q, thread } = routeOf(location.hash);
      if (!q) return abort();
      if (!thread || thread !== route.thread) return undefined;
      const turn = turns.findLast(({ answer }) => answer.query === q);
      return turn ? show({ query: q, corpus, switches: {} }, turn) : askLinked();
    };
    window.addEventListener("hashchange", moved);
    return () => window.removeEventListener("hashchange", moved);
  }, [route.thread, turns, corpus, abort, show, askLinked]);

  const ask = useCallback(
    (query: string, within: string, preset: string) => {
      void begin(within).then((thread) => {
        go({ q: query, corpus: within, preset, s: null, thread });
        start({ query, corpus: within, switches: calls.presetSwitches(preset), ...(thread && { thread }) });
      });
    },
    [go, start, begin],
  );
  /** The thread that got an answer last. */
  const answered = useRef("");
  /** A conversation whose first question got no answer is deleted. */
  const leave = useCallback(() => {
    const thread = run.asked?.thread;
    if (thread && !run.result && !turns.length && thread !== answered.current) forget(thread);
  }, [run, turns, forget]);
  useEffect(() => {
    if (run.result && run.asked?.thread) {
      answered.current = run.asked.thread;
      refresh();
    }
    if (run.problem) leave();
  }, [run.result, run.problem]);
  const stop = useCallback(() => {
    abort();
    leave();
  }, [abort, leave]);

  const showTurn = useCallback(
    (reply: Reply) => {
      go({ q: reply.answer.query, s: null });
      show({ query: reply.answer.query, corpus: run.asked?.corpus ?? corpus, switches: {} }, reply);
    },
    [go, show, run.asked, corpus],
  );
  const restart = useCallback(
    (within?: string) => {
      stop();
      go({ q: "", s: null, thread: "", view: "ask", ...(within && { corpus: within }) });
    },
    [go, stop],
  );

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
        abort();
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
      threads,
      showTurn,
      restart,
      passages,
    }),
    [route, go, session.value, session.problem, corpora.value, corpora.problem, refreshCorpora, corpus, choices.value, run, ask, abort, stop, threads, showTurn, restart, passages],
  );
  return <Context.Provider value={app}>{children}</Context.Provider>;
}
