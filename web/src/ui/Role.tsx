import type { StatementRole } from "../api/types";

/** What a statement does for the question, if it does not answer it. */
export function Role({ role }: { role: StatementRole | null }) {
  return role !== null && role !== "answers" && <span className="role">{role}</span>;
}
