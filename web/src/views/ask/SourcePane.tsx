import { useEffect, useMemo, useState } from "react";
import type { AskResult, EvidenceSpan } from "../../api/types";
import type { Mark } from "../../lib/text";
import { sourcesOf } from "../../lib/report";
import { Source } from "../../ui/Source";

function marksOf(all: EvidenceSpan[], lit: EvidenceSpan[], doc: string): Mark[] {
  const kind = (spans: EvidenceSpan[], name: string) =>
    spans.filter((e) => e.doc_id === doc).map((e) => ({ span: e.span, kind: name }));
  return [...kind(all, "told"), ...kind(lit, "lit")];
}

/** The document that the sentence rests on, at the characters that support it. */
export function SourcePane({ result, corpus, at }: { result: AskResult; corpus: string; at: number }) {
  const all = useMemo(() => sourcesOf(result), [result]);
  const [chosen, setChosen] = useState(0);
  useEffect(() => setChosen(0), [at]);
  const lit = useMemo(() => result.answer.sentences[at]?.evidence ?? [], [result, at]);
  const shown = lit[chosen] ?? lit[0] ?? all[0];
  const marks = useMemo(() => marksOf(all, lit, shown?.doc_id ?? ""), [all, lit, shown?.doc_id]);
  if (!shown) {
    return (
      <aside className="sources" aria-label="Sources">
        <p className="quiet">No sentence of this answer rests on a source.</p>
      </aside>
    );
  }
  return (
    <aside className="sources" aria-label="Sources">
      {lit.length > 1 && (
        <div className="picks" role="group" aria-label="Passages behind this sentence">
          {lit.map((span, i) => (
            <button type="button" key={i} aria-pressed={span === shown} className="pick" onClick={() => setChosen(i)}>
              <bdi>{span.title}</bdi>
            </button>
          ))}
        </div>
      )}
      <Source
        corpus={corpus}
        doc={shown.doc_id}
        title={shown.title}
        at={lit.length ? shown.span : null}
        marks={marks}
      />
      {shown.also_in.length > 0 && (
        <p className="quiet small">
          Also in <bdi>{shown.also_in.join(", ")}</bdi>
        </p>
      )}
    </aside>
  );
}
