import { useMemo } from "react";
import type { EvidenceSpan, Reply, Span } from "../../api/types";
import { citationsOf } from "../../lib/citations";
import { restingOn, type Resting } from "../../lib/evidence";
import type { Mark } from "../../lib/text";
import { useApp } from "../../state/app";
import { Picks } from "../../ui/Picks";
import { Source } from "../../ui/Source";

function marksOf(all: EvidenceSpan[], lit: EvidenceSpan[], doc: string): Mark[] {
  const kind = (spans: EvidenceSpan[], name: string) =>
    spans.filter((e) => e.doc_id === doc).map((e) => ({ span: e.span, kind: name }));
  return [...kind(all, "used"), ...kind(lit, "lit")];
}

/** The passages of some evidence, each by its first words that are no heading or neighbour. */
function firstOfEach(evidence: EvidenceSpan[]): EvidenceSpan[] {
  const found = new Map<string, EvidenceSpan>();
  for (const one of [...evidence.filter((e) => !e.is_context), ...evidence]) {
    if (!found.has(one.chunk_id)) found.set(one.chunk_id, one);
  }
  return [...found.values()];
}

interface Props {
  result: Reply;
  corpus: string;
  at: number;
  /** The passage of the sentence that is shown; empty for the first. */
  passage: string;
  onPassage: (chunk: string) => void;
  /** Called with what rests on characters that are pointed at. */
  onPoint: (resting: Resting | null) => void;
}

/** The document that the sentence rests on, at the characters that support it. */
export function SourcePane({ result, corpus, at, passage, onPassage, onPoint }: Props) {
  const { go, passages } = useApp();
  const all = result.sources;
  const lit = useMemo(() => result.answer.sentences[at]?.evidence ?? [], [result, at]);
  const behind = useMemo(() => firstOfEach(lit), [lit]);
  const shown = behind.find((e) => e.chunk_id === passage) ?? behind[0] ?? all[0];
  const marks = useMemo(() => marksOf(all, lit, shown?.doc_id ?? ""), [all, lit, shown?.doc_id]);
  const doc = shown?.doc_id ?? "";
  const numberOf = (chunk: string) => citationsOf(result, at).find((one) => one.chunk === chunk)?.number ?? "";
  const pointed = (span: Span | null) => onPoint(span && restingOn(result, doc, span));
  const choose = (span: Span) => {
    const [first] = restingOn(result, doc, span).sentences;
    if (first !== undefined) go({ s: first });
  };
  if (!shown) {
    return (
      <aside className="sources" aria-label="Sources">
        <p className="quiet">No sentence of this answer rests on a source.</p>
      </aside>
    );
  }
  return (
    <aside className="sources" aria-label="Sources">
      {behind.length > 1 && (
        <Picks
          label="Passages behind this sentence"
          value={shown.chunk_id}
          options={behind.map((e) => ({ value: e.chunk_id, name: `${numberOf(e.chunk_id)} ${e.title}`.trim() }))}
          onChange={onPassage}
        />
      )}
      <Source
        corpus={corpus}
        doc={shown.doc_id}
        title={shown.title}
        at={lit.length ? shown.span : null}
        marks={marks}
        onPoint={pointed}
        onChoose={choose}
      >
        <button type="button" className="link" onClick={() => go({ view: "tree", doc, chunk: passages.get(shown.chunk_id)?.order ?? 0, s: at })}>
          Tree of this passage
        </button>
      </Source>
      {shown.also_in.length > 0 && (
        <p className="quiet small">
          Also in <bdi>{shown.also_in.join(", ")}</bdi>
        </p>
      )}
    </aside>
  );
}
