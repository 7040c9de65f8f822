import type { Disagreement, Reply } from "../../api/types";
import { disputes, inOrder, tellers } from "../../lib/disputes";
import { clash } from "../../lib/words";
import { useApp } from "../../state/app";
import { Said } from "../../ui/Said";

/** In what two sources disagree, or why it is said that they do. */
export function Reason({ found: { reason, statements } }: { found: Disagreement }) {
  if (!reason) return null;
  return (
    <>
      {statements.length ? "What differs" : "Why"}: <bdi>{reason}</bdi>{" "}
    </>
  );
}

interface Props {
  result: Reply;
  /** The sentence whose disagreements stand out. */
  at?: number;
  /** Which answer it belongs to, if there are several. */
  of?: string;
}

/** Where the sources of an answer disagree, both sides, in what, and which one it follows. */
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
          const [one, other] = inOrder(result.answer, found);
          const { second, older } = clash(found.relation);
          return (
            <li key={i} data-own={own.includes(found)}>
              <Said side={found[one]} followed={found.favoured === one} />
              <p className="clash small">{(other === "a" && older) || second}:</p>
              <Said side={found[other]} />
              <p className="small quiet">
                <Reason found={found} />
                <button
                  type="button"
                  className="link"
                  onClick={() => go({ view: "disagreements", s: tellers(result.answer, found, one)[0] ?? null })}
                >
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
