/** What to do about an error, in the page; the server's own hints are also for the command line and for programs. */

const HERE: Record<string, string> = {
  EmptyCorpusError: "Choose another corpus next to the question, or add documents to this one under Documents.",
  NotFoundError: "It may have been deleted meanwhile: reload the page.",
};

const COMMANDS = /DISCO_RAG_|disco-rag |(?:^|\s)--[a-z]|\b(?:GET|POST|DELETE) \//;

export function hintFor(type: string, hint: string): string {
  if (!COMMANDS.test(hint) && type !== "EmptyCorpusError") return hint;
  return HERE[type] ?? `For the operator of this server: ${hint}`;
}

/** Why a file was not read, with what to do in the page. */
export const noteHere = (note: string): string =>
  note.replace("Ingest it with --refresh to try again.", "Split or simplify it, then add it again.");
