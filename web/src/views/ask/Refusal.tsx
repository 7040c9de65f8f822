import { useMemo, useState } from "react";
import type { Reply } from "../../api/types";
import { NO_ANSWER } from "../../lib/report";
import { Source } from "../../ui/Source";
import { SaveBar } from "./SaveBar";
import { Unsaid } from "./Unsaid";

/** The documents do not say: why, and what stands nearest. */
export function Refusal({ result, corpus }: { result: Reply; corpus: string }) {
  const { abstained, nearest } = result.answer;
  const [chosen, setChosen] = useState(0);
  const shown = nearest[chosen];
  const marks = useMemo(
    () => nearest.filter((n) => n.doc_id === shown?.doc_id).map((n) => ({ span: n.span, kind: n === shown ? "lit" : "told" })),
    [nearest, shown],
  );
  return (
    <div className="columns">
      <section className="answer" aria-label="Answer">
        <p className="prose refusal">{NO_ANSWER}</p>
        <p>
          <bdi>{abstained}</bdi>
        </p>
        <Unsaid result={result} />
        {nearest.length > 0 && (
          <>
            <h2>Closest passages</h2>
            <ul className="nearest">
              {nearest.map((span, i) => (
                <li key={i}>
                  <button type="button" aria-pressed={i === chosen} onClick={() => setChosen(i)}>
                    <bdi>{span.text}</bdi>
                    <span className="quiet small">
                      <bdi>{span.title}</bdi>
                    </span>
                  </button>
                </li>
              ))}
            </ul>
          </>
        )}
        <SaveBar result={result} />
      </section>
      <aside className="sources" aria-label="Sources">
        {shown ? (
          <Source corpus={corpus} doc={shown.doc_id} title={shown.title} at={shown.span} marks={marks} />
        ) : (
          <p className="quiet">Nothing was found near the question.</p>
        )}
      </aside>
    </div>
  );
}
