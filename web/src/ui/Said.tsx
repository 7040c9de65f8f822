import type { EvidenceSpan } from "../api/types";
import { unwrap } from "../lib/text";

/** What a source says, word for word. */
export function Said({ side, followed = false }: { side: EvidenceSpan; followed?: boolean }) {
  return (
    <p>
      <q>
        <bdi>{unwrap(side.text)}</bdi>
      </q>{" "}
      <cite className="quiet small">
        <bdi>{side.title}</bdi>
      </cite>
      {followed && <span className="followed small"> The answer follows this one.</span>}
    </p>
  );
}
