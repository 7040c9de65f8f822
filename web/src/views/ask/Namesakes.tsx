import type { Answer } from "../../api/types";
import { namesakesOf } from "../../lib/disputes";
import { Said } from "../../ui/Said";

/** Different things of one name, which is no disagreement. */
export function Namesakes({ answer, of = "" }: { answer: Answer; of?: string }) {
  const groups = namesakesOf(answer);
  if (!groups.length) return null;
  return (
    <section className="conflicts namesakes" aria-label={`Different things of the same name${of && `, ${of}`}`}>
      <h2>Different things of the same name</h2>
      <ul>
        {groups.map((pairs, i) => (
          <li key={i}>
            {pairs[0] && <Said side={pairs[0].a} />}
            {pairs.map((pair, j) => (
              <div key={j}>
                <p className="small quiet">
                  Not the same: <bdi>{pair.reason}</bdi>
                </p>
                <Said side={pair.b} />
              </div>
            ))}
          </li>
        ))}
      </ul>
    </section>
  );
}
