import { Suspense, lazy, useEffect, useRef } from "react";
import { storedKey } from "../api/client";
import { VIEW_NAMES } from "../lib/words";
import type { View } from "../lib/route";
import { useApp } from "../state/app";
import { AskView } from "../views/AskView";
import { Header, InspectBar } from "./Header";
import { ProblemNote } from "./Notes";
import { SignIn } from "./SignIn";

const OTHERS = {
  disagreements: lazy(() => import("../views/DisagreementsView")),
  graph: lazy(() => import("../views/GraphView")),
  plan: lazy(() => import("../views/PlanView")),
  tree: lazy(() => import("../views/TreeView")),
  trace: lazy(() => import("../views/TraceView")),
  compare: lazy(() => import("../views/CompareView")),
  documents: lazy(() => import("../views/DocumentsView")),
};

function Shown({ view }: { view: View }) {
  if (view === "ask") return <AskView />;
  const Other = OTHERS[view];
  return (
    <Suspense fallback={<p className="quiet pad">Loading…</p>}>
      <Other />
    </Suspense>
  );
}

export function Shell() {
  const { route, session, sessionProblem, signIn } = useApp();
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  useEffect(() => {
    document.title = `${VIEW_NAMES[route.view]} · disco-rag`;
    if (!first.current) main.current?.focus({ preventScroll: true });
    first.current = false;
  }, [route.view]);
  const status = sessionProblem?.status;
  // Without a key, 429 is the limit of requests without one: a key passes it.
  const locked = status === 401 || status === 403 || (status === 429 && !storedKey());
  return (
    <>
      <button className="skip" type="button" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <Header />
      <main ref={main} tabIndex={-1} className={`view view-${route.view}`}>
        <h1 className="hidden">{VIEW_NAMES[route.view]}</h1>
        {sessionProblem && locked && <SignIn problem={sessionProblem} />}
        {sessionProblem && !locked && <ProblemNote problem={sessionProblem} again={() => signIn(storedKey())} />}
        {session && <InspectBar />}
        {session && <Shown view={route.view} />}
      </main>
    </>
  );
}
