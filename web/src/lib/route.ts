/** The place in the page, as its address has it after the #. */

export const VIEWS = ["ask", "disagreements", "graph", "plan", "tree", "trace", "compare", "documents"] as const;
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
}

const number = (value: string | null): number | null => (value !== null && /^\d+$/.test(value) ? Number(value) : null);

export function routeOf(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const given = new URLSearchParams(query);
  return {
    view: VIEWS.find((view) => view === path) ?? "ask",
    q: given.get("q") ?? "",
    corpus: given.get("corpus") ?? "",
    preset: given.get("preset") ?? "ours",
    s: number(given.get("s")),
    doc: given.get("doc") ?? "",
    chunk: number(given.get("chunk")),
  };
}

export function hashOf(route: Route): string {
  const query = new URLSearchParams();
  if (route.q) query.set("q", route.q);
  if (route.corpus) query.set("corpus", route.corpus);
  if (route.preset !== "ours") query.set("preset", route.preset);
  if (route.s !== null) query.set("s", String(route.s));
  if (route.view === "tree" && route.doc) query.set("doc", route.doc);
  if (route.view === "tree" && route.chunk !== null) query.set("chunk", String(route.chunk));
  const said = query.toString();
  return `#/${route.view}${said ? `?${said}` : ""}`;
}
