/** What the server sends; spans count Unicode code points of a document's canonical text. */

export interface Span {
  start: number;
  end: number;
}

export interface EvidenceSpan {
  chunk_id: string;
  doc_id: string;
  title: string;
  span: Span;
  text: string;
  page: number | null;
  also_in: string[];
}

export type Support = "supported" | "not supported" | "not verified";

export interface AnswerSentence {
  text: string;
  support: Support;
  evidence: EvidenceSpan[];
  step: number | null;
  reason: string;
  confidence: number | null;
}

export interface Difference {
  kind: "figure" | "date" | "polarity" | "condition" | "speaker";
  a: string;
  b: string;
}

export interface Disagreement {
  relation: string;
  a: EvidenceSpan;
  b: EvidenceSpan;
  differs: Difference[];
  confidence: number | null;
}

export interface Answer {
  query: string;
  sentences: AnswerSentence[];
  disagreements: Disagreement[];
  plan: { paragraph: string } | null;
  notes: string[];
  abstained: string;
  answerable: number | null;
  unsure: boolean;
  nearest: EvidenceSpan[];
}

export interface Hit {
  chunk_id: string;
  score: number;
}

export interface Edge {
  source: string;
  target: string;
  relation: string;
  source_span: Span | null;
  target_span: Span | null;
  confidence: number | null;
}

export interface RhetoricalGraph {
  chunks: string[];
  edges: Edge[];
}

export interface Failure {
  stage: string;
  kind: string;
  message: string;
  fallback: string;
}

export interface StageRecord {
  stage: string;
  engine: string;
  model: string;
  seconds: number;
  usage: { tokens_in: number; tokens_out: number; tokens_cached: number; calls: number };
  failures: Failure[];
  counts: Record<string, number>;
  decisions: string[];
}

/** A sentence of the plan; `chunk` counts the graph's passages from one. */
export interface PlanStep {
  text: string;
  references: { chunk: number }[];
}

export interface AskResult {
  answer: Answer;
  steps: PlanStep[];
  hits: Hit[];
  /** Parts that were read of a passage; of one that is not here, the whole. */
  evidence: Record<string, Span[]>;
  graph: RhetoricalGraph | null;
  draft: string;
  ledger: { stages: StageRecord[] };
  seconds: number;
  text: string;
}

export type Switches = Record<string, string | number | boolean | null>;

export interface Question {
  query: string;
  corpus: string;
  switches: Switches;
}

export interface Corpus {
  name: string;
  documents: number;
  chunks: number;
  written: string | null;
}

export interface StoredDocument {
  doc_id: string;
  name: string;
  title: string;
  chunks: number;
}

export interface DocumentText {
  doc_id: string;
  title: string;
  text: string;
  media_type: string;
}

/** A node of a document's retrieval tree, as far as it is shown. */
export interface ShownNode {
  node: number;
  parent: number | null;
  kind: "text" | "section" | "relation" | "summary" | "group";
  text: string;
  heading: string;
  relation: string;
  spans: Span[];
  leaves: number;
  children: number;
}

/** `builders`: those of which a tree is stored; where there is none, `builder` is empty. */
export interface Levels {
  builder: string;
  builders: string[];
  leaves: number;
  roots: number;
  nodes: ShownNode[];
}

export interface Split {
  start: number;
  mid: number;
  end: number;
  relation: string;
  nuclearity: "NS" | "SN" | "NN";
  confidence: number | null;
}

export interface RstTree {
  edus: Span[];
  splits: Split[];
}

export interface Chunk {
  id: string;
  doc_id: string;
  order: number;
  span: Span;
  text: string;
  title: string;
  headings: string[];
  sections: [number, string[]][];
  page: number | null;
  page_breaks: number[];
  tree: RstTree | null;
}

export type JobStatus = "waiting" | "running" | "done" | "failed" | "cancelled";

export interface JobFile {
  name: string;
  status: string | null;
  chunks: number;
  note: string;
}

export interface Progress {
  job: { id: string; corpus: string; status: JobStatus; files: JobFile[] };
  settled: number;
  failed: number;
  total: number;
}

export interface Session {
  tenant: string;
  roles: string[];
  keys: boolean;
}

export interface ThreadState {
  checkpoint: string;
  /** The checkpoint that it came from. */
  parent: string;
  created: string;
  next: string[];
  values: {
    hits?: Hit[];
    evidence?: Record<string, [number, number][]>;
    graph?: RhetoricalGraph | null;
    plan?: string | null;
    answer?: Answer;
    ledger?: StageRecord[];
    draft?: string;
    because?: string;
  };
}

export interface StreamEvent {
  event: "start" | "end" | "failure" | "token" | "restart";
  stage: string;
  preview?: string;
  seconds?: number;
  token?: string;
  message?: string;
  fallback?: string;
}
