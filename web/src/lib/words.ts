import type { StageRecord } from "../api/types";

export const VIEW_NAMES = {
  ask: "Answer",
  disagreements: "Disagreements",
  graph: "Graph",
  plan: "Plan",
  tree: "Tree",
  trace: "Trace",
  compare: "Compare",
  documents: "Documents",
} as const;

const PRESETS: Record<string, string> = {
  default: "Default",
  local: "Without a language model",
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
  retrieve: "Retrieve",
  rerank: "Rerank",
  parse: "Trees",
  assess: "Assess",
  quote: "Quote",
  relate: "Graph",
  plan: "Plan",
  generate: "Write",
  refine: "Refine",
  verify: "Verify",
  abstain: "No answer",
};

export const stageName = (stage: string): string => STAGES[stage] ?? stage;

/** BACKGROUND_FOR as "background for". */
export const relationName = (relation: string): string => relation.toLowerCase().replaceAll("_", " ").replaceAll("-", " ");

const AT_ODDS = new Set(["CONTRADICTS", "CONTRASTS_WITH", "REPLACES"]);
const BACKING = new Set(["SUPPORTS", "JUSTIFIES", "EXEMPLIFIES", "ENABLES"]);

/** The tone in which a relation is drawn. */
export function tone(relation: string): "odds" | "backs" | "plain" {
  if (AT_ODDS.has(relation)) return "odds";
  return BACKING.has(relation) ? "backs" : "plain";
}

export const percent = (share: number): string => `${Math.round(share * 100)} %`;

export const confident = (value: number | null): string => (value === null ? "" : value.toFixed(2));

export function seconds(value: number): string {
  if (value < 0.01) return "< 0.01 s";
  return value < 10 ? `${value.toFixed(2)} s` : `${value.toFixed(0)} s`;
}

export const counted = (n: number, one: string, many = `${one}s`): string => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

export function tokens(stages: StageRecord[]): { in: number; out: number } {
  const sum = (pick: (s: StageRecord) => number) => stages.reduce((all, s) => all + pick(s), 0);
  return { in: sum((s) => s.usage.tokens_in), out: sum((s) => s.usage.tokens_out) };
}
