import { useMemo, useState } from "react";
import type { Reply } from "../../api/types";
import { unwrap } from "../../lib/text";
import { NO_ANSWER } from "../../lib/words";
import { useApp } from "../../state/app";
import { Source } from "../../ui/Source";
import { SaveBar } from "./SaveBar";
import { Unsaid } from "./Unsaid";

/** If an answer is less likely than this, the closest passages are not shown. */
const CLOSE = 0.1;

/** The reason without what the headline says already. */
const reasonOf = (abstained: string): string => abstained.replace(/^No passage seems to answer the question \([^)]*\)\.\s*/, "");

function WhatNext({ corpus }: { corpus: string }) {
  const { corpora, route, ask, go, canWrite } = useApp();
  const others = (corpora ?? []).filter(({ name }) => name !== corpus).slice(0, 4);
  return (
    <>
      <h2>What you can try</h2>
      <ul className="next">
        <li>Use the words of the documents, or ask about less at once.</li>
        {others.length > 0 && (
          <li>
            Ask another corpus:{" "}
            {others.map(({ name }) => (
              <button type="button" className="link" key={name} onClick={() => ask(route.q, name, route.preset)}>
                <bdi>{name}</bdi>
              </button>
            ))}
          </li>
        )}
        {canWrite && (
          <li>
            <button type="button" className="link" onClick={() => go({ view: "documents" })}>
              Add documents
            </button>{" "}
            that answer it.
          </li>
        )}
      </ul>
    </>
  );
}

/** The documents do not say: why, the closest passages if any is close, and what to try next. */
export function Refusal({ result, corpus }: { result: Reply; corpus: string }) {
  const { abstained, answerable } = result.answer;
  const nearest = answerable === null || answerable >= CLOSE ? result.answer.nearest : [];
  const [chosen, setChosen] = useState(0);
  const shown = nearest[chosen];
  const marks = useMemo(
    () => nearest.filter((n) => n.doc_id === shown?.doc_id).map((n) => ({ span: n.span, kind: n === shown ? "lit" : "used" })),
    [nearest, shown],
  );
  return (
    <div className="columns">
      <section className="answer" aria-label="Answer">
        <p className="prose refusal">{NO_ANSWER}</p>
        {reasonOf(abstained) && (
          <p>
            <bdi>{reasonOf(abstained)}</bdi>
          </p>
        )}
        <Unsaid notes={result.answer.notes} />
        {nearest.length > 0 && (
          <>
            <h2>Closest passages</h2>
            <ul className="nearest">
              {nearest.map((span, i) => (
                <li key={i}>
                  <button type="button" aria-pressed={i === chosen} onClick={() => setChosen(i)}>
                    <bdi>{unwrap(span.text)}</bdi>
                    <span className="quiet small">
                      <bdi>{span.title}</bdi>
                    </span>
                  </button>
                </li>
              ))}
            </ul>
          </>
        )}
        <WhatNext corpus={corpus} />
        <SaveBar result={result} />
      </section>
      {shown && (
        <aside className="sources" aria-label="Sources">
          <Source corpus={corpus} doc={shown.doc_id} title={shown.title} at={shown.span} marks={marks} />
        </aside>
      )}
    </div>
  );
}
