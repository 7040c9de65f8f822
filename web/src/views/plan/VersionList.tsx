import { stepsOf } from "../../lib/plan";
import { plural } from "../../lib/words";
import type { Versions } from "./useVersions";

const origin = (after: number | null): string => (after === null ? "the original plan, changed" : `version ${after + 1}, changed`);

/** The answers to this question so far: one is looked at, and what is written next starts from its plan. */
export function VersionList({ kept, steps, sentences }: { kept: Versions; steps: number; sentences: number }) {
  const { versions, at, choose } = kept;
  if (!versions.length) return null;
  const rows = [
    { key: null, name: "Original plan", facts: `${plural(steps, "step")}, ${plural(sentences, "sentence")}` },
    ...versions.map((version, i) => ({
      key: i,
      name: `Version ${i + 1}`,
      facts: `${origin(version.after)}: ${plural(stepsOf(version.plan).length, "step")}, ${plural(version.answer.sentences.length, "sentence")}`,
    })),
  ];
  return (
    <section className="versions" aria-labelledby="versions">
      <h2 id="versions">Answers so far</h2>
      <p className="quiet small">Choose one to see its plan and continue from it; the others stay.</p>
      <ol>
        {rows.map(({ key, name, facts }) => (
          <li key={name}>
            <button type="button" aria-pressed={at === key} onClick={() => choose(key)}>
              <span className="version-name">{name}</span>
              <span className="quiet small">{facts}</span>
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
