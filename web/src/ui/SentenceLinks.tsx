import { useApp } from "../state/app";

/** A link to each of these sentences of the answer. */
export function SentenceLinks({ at }: { at: number[] }) {
  const { go } = useApp();
  return at.map((s) => (
    <button type="button" className="link" key={s} onClick={() => go({ view: "ask", s })}>
      sentence {s + 1}
    </button>
  ));
}
