import { useCallback, useState } from "react";
import { Button } from "react-aria-components";
import { documents, removeDocument } from "../api/calls";
import { problemOf, type Problem } from "../api/client";
import type { StoredDocument } from "../api/types";
import { counted } from "../lib/words";
import { useApp } from "../state/app";
import { useLoaded } from "../state/useLoaded";
import { Confirm } from "../ui/Confirm";
import { Empty, ProblemNote } from "../ui/Notes";
import { CorpusChoice } from "../ui/QuestionBar";
import { AddFiles } from "./documents/AddFiles";
import { JobList } from "./documents/JobList";
import { useJobs } from "./documents/useJobs";

const PART = 100;

function Row({ document, onDelete }: { document: StoredDocument; onDelete: (() => void) | null }) {
  const { go } = useApp();
  return (
    <tr>
      <th scope="row">
        <bdi>{document.title || document.name}</bdi>
        <span className="quiet small">
          <bdi>{document.name}</bdi>
        </span>
      </th>
      <td className="count">{counted(document.chunks, "passage")}</td>
      <td className="row-buttons">
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
        Earlier
      </Button>
      <span className="quiet small">
        {offset + 1} to {Math.min(total, offset + PART)} of {total}
      </span>
      <Button className="button" isDisabled={offset + PART >= total} onPress={() => onChange(offset + PART)}>
        Later
      </Button>
    </nav>
  );
}

function List({ corpus, round, onChange }: { corpus: string; round: number; onChange: () => void }) {
  const { canWrite } = useApp();
  const [offset, setOffset] = useState(0);
  const [leaving, setLeaving] = useState<StoredDocument | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const listed = useLoaded(`${corpus} ${round} ${offset}`, () => documents(corpus, offset, PART));
  const remove = (document: StoredDocument) => {
    setProblem(null);
    removeDocument(corpus, document.doc_id).then(onChange, (error: unknown) => setProblem(problemOf(error)));
  };
  if (listed.problem) return <ProblemNote problem={listed.problem} again={listed.again} />;
  if (!listed.value) return <p className="quiet pad">Loading…</p>;
  if (!listed.value.total) return <Empty title="This corpus is empty" />;
  return (
    <>
      {problem && <ProblemNote problem={problem} />}
      <table className="documents">
        <caption className="quiet small">{counted(listed.value.total, "document")}</caption>
        <tbody>
          {listed.value.documents.map((document) => (
            <Row key={document.doc_id} document={document} onDelete={canWrite ? () => setLeaving(document) : null} />
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
  const { corpus, canWrite, corporaProblem, refreshCorpora } = useApp();
  const [round, setRound] = useState(0);
  const changed = useCallback(() => {
    setRound((n) => n + 1);
    refreshCorpora();
  }, [refreshCorpora]);
  const jobs = useJobs(changed);
  return (
    <div className="narrow">
      {corporaProblem && <ProblemNote problem={corporaProblem} again={refreshCorpora} />}
      <div className="documents-top">
        <CorpusChoice />
      </div>
      {canWrite && <AddFiles corpus={corpus} onFiles={jobs.send} />}
      <JobList jobs={jobs} />
      {corpus ? (
        <List key={corpus} corpus={corpus} round={round} onChange={changed} />
      ) : (
        <Empty title="There are no documents yet" />
      )}
    </div>
  );
}
