import { Fragment, useCallback, useState } from "react";
import { Button } from "react-aria-components";
import { documents, removeDocument } from "../api/calls";
import { problemOf, type Problem } from "../api/client";
import type { StoredDocument } from "../api/types";
import type { Mark } from "../lib/text";
import { notRead, plural } from "../lib/words";
import { useApp } from "../state/app";
import { useLoaded } from "../state/useLoaded";
import { Confirm } from "../ui/Confirm";
import { Empty, ProblemNote } from "../ui/Notes";
import { CorpusChoice } from "../ui/QuestionBar";
import { Source } from "../ui/Source";
import { AddFiles } from "./documents/AddFiles";
import { JobList } from "./documents/JobList";
import { isUnderWay, useJobs } from "./documents/useJobs";

const PART = 100;
const NO_MARKS: Mark[] = [];

const size = (bytes: number): string =>
  bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1000)).toLocaleString("en")} kB` : `${(bytes / 1e6).toFixed(1)} MB`;

const day = (written: string): string =>
  new Date(written).toLocaleString("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });

interface RowProps {
  document: StoredDocument;
  open: boolean;
  onOpen: () => void;
  onDelete: (() => void) | null;
}

function Row({ document, open, onOpen, onDelete }: RowProps) {
  const { go } = useApp();
  const facts = [
    document.size ? size(document.size) : "",
    plural(document.chunks, "passage"),
    document.written ? day(document.written) : "",
    notRead(document.unread),
  ].filter(Boolean);
  return (
    <tr>
      <th scope="row">
        <bdi>{document.title || document.name}</bdi>
        <span className="quiet small">
          <bdi>{document.name}</bdi>
          {facts.map((fact) => ` · ${fact}`)}
        </span>
      </th>
      <td className="row-buttons">
        <Button className="button" aria-expanded={open} aria-label={`Text of ${document.name}`} onPress={onOpen}>
          Text
        </Button>
        <Button
          className="button"
          aria-label={`Trees of ${document.name}`}
          onPress={() => go({ view: "tree", doc: document.doc_id, chunk: 0 })}
        >
          Trees
        </Button>
        {onDelete && (
          <Button className="button danger" aria-label={`Delete ${document.name}`} onPress={onDelete}>
            Delete
          </Button>
        )}
      </td>
    </tr>
  );
}

function Pages({ total, offset, onChange }: { total: number; offset: number; onChange: (offset: number) => void }) {
  if (total <= PART) return null;
  return (
    <nav className="pages" aria-label="Pages of documents">
      <Button className="button" isDisabled={offset === 0} onPress={() => onChange(offset - PART)}>
        Previous
      </Button>
      <span className="quiet small">
        {offset + 1} to {Math.min(total, offset + PART)} of {total}
      </span>
      <Button className="button" isDisabled={offset + PART >= total} onPress={() => onChange(offset + PART)}>
        Next
      </Button>
    </nav>
  );
}

interface ListProps {
  corpus: string;
  round: number;
  /** Whether files are being read. */
  busy: boolean;
  onChange: () => void;
}

function List({ corpus, round, busy, onChange }: ListProps) {
  const { canWrite } = useApp();
  const [offset, setOffset] = useState(0);
  const [leaving, setLeaving] = useState<StoredDocument | null>(null);
  const [read, setRead] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  const listed = useLoaded(`${corpus} ${round} ${offset}`, () => documents(corpus, offset, PART));
  const remove = (document: StoredDocument) => {
    setProblem(null);
    removeDocument(corpus, document.doc_id).then(onChange, (error: unknown) => setProblem(problemOf(error)));
  };
  if (listed.problem) return <ProblemNote problem={listed.problem} again={listed.again} />;
  if (!listed.value) return <p className="quiet pad">Loading…</p>;
  if (!listed.value.total) return <Empty title={busy ? "The files are being read…" : "This corpus is empty"} />;
  return (
    <>
      {problem && <ProblemNote problem={problem} />}
      <table className="documents">
        <caption className="quiet small">{plural(listed.value.total, "document")}</caption>
        <tbody>
          {listed.value.documents.map((document) => (
            <Fragment key={document.doc_id}>
              <Row
                document={document}
                open={read === document.doc_id}
                onOpen={() => setRead(read === document.doc_id ? "" : document.doc_id)}
                onDelete={canWrite ? () => setLeaving(document) : null}
              />
              {read === document.doc_id && (
                <tr>
                  <td colSpan={2}>
                    <div className="opened">
                      <Source corpus={corpus} doc={read} title={document.title || document.name} at={null} marks={NO_MARKS} asRead />
                    </div>
                  </td>
                </tr>
              )}
            </Fragment>
          ))}
        </tbody>
      </table>
      <Pages total={listed.value.total} offset={offset} onChange={setOffset} />
      <Confirm
        title="Delete this document?"
        action="Delete"
        open={leaving !== null}
        onClose={() => setLeaving(null)}
        onConfirm={() => leaving && remove(leaving)}
      >
        <p>
          <bdi>{leaving?.title || leaving?.name}</bdi> is removed from the corpus <bdi>{corpus}</bdi> with its trees. This
          cannot be undone.
        </p>
      </Confirm>
    </>
  );
}

export default function DocumentsView() {
  const { corpus, canWrite, corporaProblem, refreshCorpora, session } = useApp();
  const [round, setRound] = useState(0);
  const changed = useCallback(() => {
    setRound((n) => n + 1);
    refreshCorpora();
  }, [refreshCorpora]);
  const jobs = useJobs(session?.formats ?? [], changed);
  return (
    <div className="narrow">
      {corporaProblem && <ProblemNote problem={corporaProblem} again={refreshCorpora} />}
      <div className="documents-top">
        <CorpusChoice />
      </div>
      {canWrite && <AddFiles corpus={corpus} onFiles={jobs.send} />}
      <JobList jobs={jobs} />
      {corpus ? (
        <List key={corpus} corpus={corpus} round={round} busy={jobs.jobs.some(isUnderWay) || jobs.uploads.some((one) => !one.problem)} onChange={changed} />
      ) : (
        <Empty title="There are no documents yet" />
      )}
    </div>
  );
}
