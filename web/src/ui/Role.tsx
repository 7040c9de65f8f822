import type { StatementRole } from "../api/types";
import { roleName } from "../lib/words";

/** What a statement does for the question, if it does not answer it. */
export function Role({ role }: { role: StatementRole | null }) {
  return role !== null && role !== "answers" && <span className="role">{roleName(role)}</span>;
}
