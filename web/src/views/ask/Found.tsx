import type { Statement } from "../../api/types";
import { plural } from "../../lib/words";
import { Role } from "../../ui/Role";

/** What a language model has found in the passages so far; closed once the answer begins. */
export function Found({ statements, isDone }: { statements: Statement[]; isDone: boolean }) {
  return (
    <details className="found" open={!isDone}>
      <summary>{plural(statements.length, "statement")} found</summary>
      <ol className="small" aria-label="Found so far" aria-live="polite">
        {statements.map(({ says, role, quotations }, at) => (
          <li key={at}>
            <Role role={role} /> <bdi>{says}</bdi>{" "}
            <span className="quiet">
              <bdi>{[...new Set(quotations.map(({ title }) => title))].join(", ")}</bdi>
            </span>
          </li>
        ))}
      </ol>
    </details>
  );
}
