import type { Disagreement, EvidenceSpan, Reply } from "../../api/types";
import { disputes, tellers } from "../../lib/disputes";
import { unwrap } from "../../lib/text";
import { clash } from "../../lib/words";
import { useApp } from "../../state/app";

function Said({ side }: { side: EvidenceSpan }) {
  return (
    <p>
      <q>
        <bdi>{unwrap(side.text)}</bdi>
      </q>{" "}
      <cite className="quiet small">
        <bdi>{side.title}</bdi>
      </cite>
    </p>
  );
}

/** The side that the answer tells first comes first. */
function inOrder(result: Reply, { a, b }: Disagreement): [EvidenceSpan, EvidenceSpan] {
  const first = (side: EvidenceSpan) => tellers(result.answer, side)[0] ?? Infinity;
  return first(b) < first(a) ? [b, a] : [a, b];
}

interface Props {
  result: Reply;
  /** The sentence whose disagreements stand out. */
  at?: number;
  /** Which answer it belongs to, if there are several. */
  of?: string;
}

/** Where the sources of an answer disagree, both sides and the reason. */
export function Conflicts({ result, at = -1, of = "" }: Props) {
  const { go } = useApp();
  const { disagreements, sentences } = result.answer;
  const sentence = sentences[at];
  const own = sentence ? disputes(result.answer, sentence) : [];
  if (!disagreements.length) return null;
  return (
    <section className="conflicts" aria-label={`Where the sources disagree${of && `, ${of}`}`}>
      <h2>The sources disagree</h2>
      <ul>
        {disagreements.map((found, i) => {
          const [one, other] = inOrder(result, found);
          const { second, older } = clash(found.relation);
          return (
            <li key={i} data-own={own.includes(found)}>
              <Said side={one} />
              <p className="clash small">{(other === found.a && older) || second}:</p>
              <Said side={other} />
              <p className="small quiet">
                {found.reason && (
                  <>
                    Why: <bdi>{found.reason}</bdi>{" "}
                  </>
                )}
                <button type="button" className="link" onClick={() => go({ view: "disagreements", s: tellers(result.answer, one)[0] ?? null })}>
                  See both in context
                </button>
              </p>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
