/** The place in the page, as its address has it after the #. */

export const VIEWS = ["ask", "disagreements", "compare", "documents", "graph", "plan", "tree", "trace"] as const;
/** Views for looking into how an answer was made. */
export const INSPECT: readonly View[] = ["graph", "plan", "tree", "trace"];
export type View = (typeof VIEWS)[number];

export interface Route {
  view: View;
  q: string;
  corpus: string;
  preset: string;
  /** Index of the selected sentence. */
  s: number | null;
  doc: string;
  chunk: number | null;
  /** Whether the disagreements are those of the whole corpus, not of the answer. */
  ofCorpus: boolean;
  /** The thread that keeps the open conversation. */
  thread: string;
  /** The two sides that are compared. */
  left: string;
  right: string;
}

const number = (value: string | null): number | null => (value !== null && /^\d+$/.test(value) ? Number(value) : null);

export function routeOf(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const given = new URLSearchParams(query);
  return {
    view: VIEWS.find((view) => view === path) ?? "ask",
    q: given.get("q") ?? "",
    corpus: given.get("corpus") ?? "",
    preset: given.get("preset") ?? "auto",
    s: number(given.get("s")),
    doc: given.get("doc") ?? "",
    chunk: number(given.get("chunk")),
    ofCorpus: given.get("of") === "corpus",
    thread: given.get("thread") ?? "",
    left: given.get("left") ?? "",
    right: given.get("right") ?? "",
  };
}

export function hashOf(route: Route): string {
  const query = new URLSearchParams();
  if (route.q) query.set("q", route.q);
  if (route.corpus) query.set("corpus", route.corpus);
  if (route.preset !== "auto") query.set("preset", route.preset);
  if (route.s !== null) query.set("s", String(route.s));
  if (route.view === "tree" && route.doc) query.set("doc", route.doc);
  if (route.view === "tree" && route.chunk !== null) query.set("chunk", String(route.chunk));
  if (route.view === "disagreements" && route.ofCorpus) query.set("of", "corpus");
  if (route.thread) query.set("thread", route.thread);
  if (route.view === "compare" && route.left) query.set("left", route.left);
  if (route.view === "compare" && route.right) query.set("right", route.right);
  const said = query.toString();
  return `#/${route.view}${said ? `?${said}` : ""}`;
}
