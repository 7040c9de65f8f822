/** Written by `make api-types`. Spans count Unicode code points of a document's canonical text. */

/** Of a question, in their order. */
export const STAGE_ORDER = ["prepare", "retrieve", "rerank", "assess", "parse", "relate", "plan", "generate", "verify"];

export interface Answer {
  query: string;
  sentences: AnswerSentence[];
  disagreements: Disagreement[];
  namesakes: Namesake[];
  statements: StatementGraph | null;
  plan: Plan | null;
  notes: string[];
  abstained: string;
  answerable: number | null;
  unsure: boolean;
  nearest: EvidenceSpan[];
  checked: string;
}

export interface AnswerSentence {
  text: string;
  citations: Citation[];
  support: Support;
  evidence: EvidenceSpan[];
  step: number | null;
  statements: number[];
  reason: string;
  confidence: number | null;
}

export interface Audit {
  corpus: string;
  documents: number;
  findings: Finding[];
  settled: Record<string, string>;
  changed: number;
}

export interface Chunk {
  id: string;
  doc_id: string;
  order: number;
  span: Span;
  text: string;
  sentences: Span[];
  paragraph_starts: number[];
  kinds: UnitKind[];
  leads: (number | null)[];
  sections: [number, string[]][];
  title: string;
  headings: string[];
  page: number | null;
  page_breaks: number[];
  lines: PageLine[];
  markup: Markup;
  columns: string;
  tree: RstTree | null;
  metadata: Record<string, boolean | number | string | (boolean | number | string)[]>;
  stands_for: Span[];
  also_in: string[];
}

export type ChunkRelation = "SUPPORTS" | "CONTRADICTS" | "ELABORATES" | "EXEMPLIFIES" | "CAUSES" | "RESULTS_FROM" | "ENABLES" | "PREVENTS" | "PRECEDES" | "FOLLOWS" | "SIMULTANEOUS" | "BACKGROUND_FOR" | "GENERALIZES" | "SPECIFIES" | "COMPARES_WITH" | "CONTRASTS_WITH" | "SUPPLEMENTS" | "REPLACES" | "MOTIVATES" | "JUSTIFIES" | "UNRELATED";

export interface Citation {
  at: number;
  chunk_id: string;
}

export interface CitationMark {
  at: number;
  numbers: number[];
}

export interface Corpus {
  name: string;
  documents: number;
  chunks: number;
  written: string | null;
}

export interface Disagreement {
  relation: ChunkRelation;
  a: EvidenceSpan;
  b: EvidenceSpan;
  reason: string;
  favoured: string | null;
  statements: number[];
}

export interface DocumentText {
  doc_id: string;
  title: string;
  text: string;
  markup: Markup;
  pages: number[];
  unread: Record<string, number>;
}

export interface Dropped {
  quotations: number;
  statements: number;
  relations: number;
  steps: number;
  moved: number;
}

export interface Edge {
  source: string;
  target: string;
  relation: ChunkRelation;
  source_span: Span | null;
  target_span: Span | null;
  reason: string;
}

export interface EvidenceSpan {
  chunk_id: string;
  doc_id: string;
  title: string;
  span: Span;
  text: string;
  page: number | null;
  regions: Region[];
  also_in: string[];
  is_context: boolean;
}

export interface Failure {
  stage: string;
  kind: string;
  message: string;
  fallback: string;
}

export interface Finding {
  id: string;
  verdict: Verdict;
  tier: Tier;
  kind: string;
  left: Side;
  right: Side;
  reason: string;
  score: number;
}

export interface Hit {
  chunk_id: string;
  score: number;
}

export interface Job {
  id: string;
  tenant: string;
  corpus: string;
  status: JobStatus;
  files: JobFile[];
  created: string;
  ended: string | null;
}

export interface JobFile {
  name: string;
  status: Status | null;
  chunks: number;
  note: string;
  unread: Record<string, number>;
}

export type JobStatus = "waiting" | "running" | "done" | "failed" | "cancelled";

export interface Ledger {
  stages: StageRecord[];
}

export type Markup = "none" | "blocks" | "inline";

export interface Namesake {
  a: EvidenceSpan;
  b: EvidenceSpan;
  reason: string;
  statements: number[];
}

export type Nuclearity = "NS" | "SN" | "NN";

export interface Options {
  preset?: string;
  engine?: string;
  retriever?: string;
  search_documents?: number;
  node_scores?: string;
  evidence_words?: number;
  evidence_tokens?: number | null;
  context?: string;
  node_k?: number | null;
  unfold?: number;
  top_k?: number | null;
  rerank?: boolean;
  abstain?: string;
  strict?: boolean;
  use_tree?: boolean;
  use_graph?: boolean;
  graph_query?: boolean;
  use_plan?: boolean;
  plan?: string | null;
  parser?: string;
  verifier?: string;
  detail?: string;
  correct?: boolean;
  refine?: number;
  temperature?: number;
  beam_width?: number;
  answer_tokens?: number | null;
}

export type PageLine = [number, number, number, number, number, number];

export interface Plan {
  paragraph: string;
  steps: PlanStep[];
}

export interface PlanStep {
  text: string;
  references: Reference[];
  statements: number[];
  role: StatementRole | null;
}

export interface Progress {
  job: Job;
  settled: number;
  failed: number;
  total: number;
  unread: string;
}

export interface Quotation {
  passage: number;
  chunk_id: string;
  text: string;
  spans: Span[];
  title: string;
}

export interface Reference {
  chunk: number;
  first: number | null;
  last: number | null;
}

export interface Region {
  page: number;
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

export type Relation = "ELABORATION" | "EXPLANATION" | "EVIDENCE" | "EXAMPLE" | "CONTRAST" | "COMPARISON" | "CONCESSION" | "ANTITHESIS" | "CAUSE" | "RESULT" | "CONSEQUENCE" | "PURPOSE" | "CONDITION" | "TEMPORAL" | "SEQUENCE" | "BACKGROUND" | "CIRCUMSTANCE" | "SUMMARY" | "RESTATEMENT" | "EVALUATION" | "INTERPRETATION" | "ATTRIBUTION" | "DEFINITION" | "CLASSIFICATION" | "JOINT";

export interface Reply {
  answer: Answer;
  hits: Hit[];
  evidence: Record<string, Span[]>;
  graph: RhetoricalGraph | null;
  draft: string;
  model_failed: boolean;
  ledger: Ledger;
  seconds: number;
  text: string;
  sources: EvidenceSpan[];
  citations: number[][];
  marks: CitationMark[][];
  differences: [Span[], Span[]][];
  markdown: string;
}

export interface RhetoricalGraph {
  chunks: string[];
  edges: Edge[];
}

export type Role = "read" | "write" | "operate";

export interface RstTree {
  edus: Span[];
  splits: Split[];
}

export interface Session {
  tenant: string;
  roles: Role[];
  keys: boolean;
  language_model: string;
  formats: string[];
  examples: Record<string, string[]>;
}

export interface Side {
  doc_id: string;
  title: string;
  identity: string;
  chunk_id: string;
  span: Span;
  page: number | null;
  regions: Region[];
  headings: string[];
  field: string;
  quote: string;
  lit: Span[];
  conditions: string[];
}

export interface Span {
  start: number;
  end: number;
}

export interface Split {
  start: number;
  mid: number;
  end: number;
  relation: Relation;
  nuclearity: Nuclearity;
  confidence: number | null;
}

export interface StageRecord {
  stage: string;
  engine: string;
  model: string;
  prompt_hash: string;
  seconds: number;
  usage: Usage;
  failures: Failure[];
  counts: Record<string, number>;
  decisions: string[];
}

export interface Statement {
  number: number;
  says: string;
  quotations: Quotation[];
  role: StatementRole;
}

export interface StatementGraph {
  statements: Statement[];
  relations: StatementRelation[];
  missing: string;
  dropped: Dropped;
}

export interface StatementRelation {
  source: number;
  relation: StatementRelationKind;
  target: number;
  about: string;
}

export type StatementRelationKind = "CONTRADICTS" | "LIMITS" | "SUPPORTS" | "ANOTHER" | "CAUSES" | "REPLACES" | "EXEMPLIFIES";

export type StatementRole = "answers" | "opposes" | "restricts" | "backs" | "namesake";

export type Status = "added" | "replaced" | "unchanged" | "deleted" | "duplicate" | "skipped" | "failed";

export interface StoredDocument {
  doc_id: string;
  name: string;
  title: string;
  chunks: number;
  content_hash: string;
  size: number;
  written: string | null;
  unread: Record<string, number>;
}

export type Support = "quoted" | "cited" | "check" | "supported" | "not supported";

export interface Thread {
  id: string;
  corpus: string | null;
  created: string;
  title: string;
}

export type Tier = "sure" | "possible";

export type UnitKind = "prose" | "heading" | "item" | "row" | "header" | "code" | "turn" | "reference" | "formula" | "furniture";

export interface Usage {
  tokens_in: number;
  tokens_out: number;
  tokens_cached: number;
  calls: number;
  disk_hits: number;
  repairs: number;
  beams_refused: number;
}

export type Verdict = "contradicts" | "replaced" | "differs";
