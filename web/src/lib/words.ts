import type { StageRecord, StoredDocument } from "../api/types";

export const NO_ANSWER = "The documents do not answer this.";
export const NOT_SURE = "Not sure that the documents answer this. Closest passages:";

export const VIEW_NAMES = {
  ask: "Answer",
  disagreements: "Disagreements",
  compare: "Compare",
  documents: "Documents",
  graph: "Graph",
  plan: "Plan",
  tree: "Tree",
  trace: "Trace",
} as const;

const PRESETS: Record<string, string> = {
  auto: "Default",
  written: "Written by a language model",
  verbatim: "Sentences of the sources",
  standard: "Standard RAG",
  paper: "Disco-RAG, as printed",
  disretrieval: "DISRetrieval",
  raptor: "RAPTOR",
  htsir: "HTSIR",
  rdr2: "RDR²",
};

export const presetName = (preset: string): string => PRESETS[preset] ?? preset;

const STAGES: Record<string, string> = {
  prepare: "Question",
  retrieve: "Find passages",
  rerank: "Order passages",
  assess: "Is there an answer?",
  parse: "Trees of the passages",
  relate: "Relate passages",
  plan: "Plan",
  generate: "Write",
  refine: "Revise the answer",
  verify: "Check each sentence",
  correct: "Correct what the check found",
  abstain: "No answer",
};

export const stageName = (stage: string): string => STAGES[stage] ?? stage;

/** What to call each document; the API's titles tell documents apart. */
export const documentNames = (documents: StoredDocument[]): { id: string; name: string }[] =>
  documents.map(({ doc_id: id, title, name }) => ({ id, name: title || name }));

const RELATIONS: Record<string, string> = { ANOTHER: "is about a different thing than" };

/** BACKGROUND_FOR as "background for". */
export const relationName = (relation: string): string =>
  RELATIONS[relation] ?? relation.toLowerCase().replaceAll("_", " ").replaceAll("-", " ");

/** How one of two passages clashes with the other, said of the second, of the second if it is `older`, and of both. */
interface Clash {
  second: string;
  older?: string;
  both: string;
}

const CLASHES: Record<string, Clash> = {
  CONTRADICTS: { second: "Another source says the opposite", both: "They say opposite things" },
  CONTRASTS_WITH: { second: "Another source says something different", both: "They say different things" },
  REPLACES: { second: "A newer source replaces it", older: "It replaces an older source", both: "The newer one replaces the older" },
};

export const clash = (relation: string): Clash => CLASHES[relation] ?? { second: "Another source disagrees", both: "They disagree" };

const BACKING = new Set(["SUPPORTS", "JUSTIFIES", "EXEMPLIFIES", "ENABLES"]);

/** The tone in which a relation is drawn. */
export function tone(relation: string): "odds" | "backs" | "plain" {
  if (relation in CLASHES) return "odds";
  return BACKING.has(relation) ? "backs" : "plain";
}

export const percent = (share: number): string => `${Math.round(share * 100)} %`;

export const confident = (value: number | null): string => (value === null ? "" : value.toFixed(2));

export function seconds(value: number): string {
  if (value < 0.01) return "< 0.01 s";
  return value < 10 ? `${value.toFixed(2)} s` : `${value.toFixed(0)} s`;
}

export const plural = (n: number, one: string, many = `${one}s`): string => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

/** What could not be read of a document, from its counts by kind: `2 images, 1 equation not read`. */
export function notRead(unread: Record<string, number>): string {
  const amounts = Object.entries(unread).map(([kind, n]) => plural(n, kind, kind.replace(/(?= without |$)/, "s")));
  return amounts.length ? `${amounts.join(", ")} not read` : "";
}

/** How many tokens some stages cost; replies from the cache cost none. */
export function tokens(stages: StageRecord[]): string {
  const sum = (pick: (s: StageRecord) => number) => stages.reduce((all, s) => all + pick(s), 0);
  const used = sum(({ usage }) => usage.tokens_in + usage.tokens_out);
  const isCached = sum(({ usage }) => usage.disk_hits) > 0;
  if (isCached) return used ? `${plural(used, "token")}, the rest from the cache` : "from the cache";
  return plural(used, "token");
}
