import { useEffect, useMemo, useRef, useState } from "react";
import { Button } from "react-aria-components";
import { lastAudit, runAudit, settleFinding } from "../../api/calls";
import { problemOf, type Problem } from "../../api/client";
import type { Audit, Finding, Side, Tier, Verdict } from "../../api/types";
import { plural } from "../../lib/words";
import { useApp } from "../../state/app";
import { useLoaded } from "../../state/useLoaded";
import { Empty, ProblemNote } from "../../ui/Notes";
import { CorpusChoice } from "../../ui/QuestionBar";
import { FindingPair } from "./FindingPair";

/** Pairs of documents of one kind that are shown at first. */
const SHOWN = 20;

const KINDS: { tier: Tier; verdict: Verdict; name: string; about: string }[] = [
  { tier: "sure", verdict: "contradicts", name: "Contradictions", about: "The same statement with a different value." },
  { tier: "sure", verdict: "replaced", name: "Changed", about: "A newer document has a different value, or one of the documents is no longer valid." },
  { tier: "sure", verdict: "differs", name: "Explained differences", about: "The documents or sentences are about different subjects or times." },
  { tier: "possible", verdict: "contradicts", name: "Possible contradictions", about: "Please check: different wording, a different name, or the opposite." },
  { tier: "possible", verdict: "replaced", name: "Possible changes", about: "Please check: a newer version may say something else." },
  { tier: "possible", verdict: "differs", name: "Possible differences", about: "Please check: the subjects or times differ." },
];

/** How many of the documents are not compared yet, in words. */
function standing({ documents, changed }: Audit): string {
  const all = plural(documents, "document");
  if (changed === 0) return `${all}, all compared.`;
  if (changed === documents) return `${all}, not yet compared.`;
  return `${all}; ${changed.toLocaleString("en")} changed since the last audit.`;
}

interface PartProps {
  name: string;
  about: string;
  findings: Finding[];
  report: Audit;
  corpus: string;
  settle: ((finding: Finding, note: string | null) => void) | null;
}

/** The findings of each pair of documents, in the order of its first one. */
function byDocuments(findings: Finding[]): [Finding, ...Finding[]][] {
  const pairs: [Finding, ...Finding[]][] = [];
  for (const finding of findings) {
    const pair = pairs.find(([{ left, right }]) => left.doc_id === finding.left.doc_id && right.doc_id === finding.right.doc_id);
    if (pair) pair.push(finding);
    else pairs.push([finding]);
  }
  return pairs;
}

const named = ({ title, identity }: Side) => (identity ? `${title} (${identity})` : title);

/** Findings of one kind, by pair of documents; the first pairs at first. */
function Part({ name, about, findings, report, corpus, settle }: PartProps) {
  const [most, setMost] = useState(SHOWN);
  const pairs = useMemo(() => byDocuments(findings), [findings]);
  return (
    <section className="findings" aria-label={name}>
      <h2>
        {name} <span className="quiet small">{findings.length.toLocaleString("en")}</span>
      </h2>
      <p className="quiet small">{about}</p>
      {pairs.slice(0, most).map((pair) => (
        <section key={pair[0].id} className="pair">
          <h3>
            <bdi>{named(pair[0].left)}</bdi> and <bdi>{named(pair[0].right)}</bdi>
          </h3>
          <ul>
            {pair.map((finding) => (
              <FindingPair key={finding.id} finding={finding} note={report.settled[finding.id] ?? null} corpus={corpus} settle={settle} />
            ))}
          </ul>
        </section>
      ))}
      {pairs.length > most && (
        <Button className="button" onPress={() => setMost(most + SHOWN)}>
          Show more
        </Button>
      )}
    </section>
  );
}

/** What is shown of a report: the open findings by kind, then the settled ones. */
function partsOf({ findings, settled }: Audit) {
  const isSettled = ({ id }: Finding) => settled[id] !== undefined;
  const open = findings.filter((f) => !isSettled(f));
  const kinds = KINDS.map((kind) => ({ ...kind, findings: open.filter((f) => f.tier === kind.tier && f.verdict === kind.verdict) }));
  const others = { name: "Settled", about: "Neither counted nor shown with an answer.", findings: findings.filter(isSettled) };
  return [...kinds, others].filter((part) => part.findings.length);
}

/** Where the documents of a corpus disagree with each other, whatever was asked. */
export function CorpusAudit({ corpus }: { corpus: string }) {
  const { canWrite } = useApp();
  const stored = useLoaded(corpus, () => lastAudit(corpus));
  const [changed, setChanged] = useState<Audit | null>(null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const abort = useRef<AbortController | null>(null);
  useEffect(() => () => abort.current?.abort(), []);
  const report = changed ?? stored.value;

  const run = async () => {
    const control = new AbortController();
    abort.current = control;
    setProblem(null);
    setBusy(true);
    try {
      setChanged(await runAudit(corpus, control.signal));
    } catch (error) {
      if (!control.signal.aborted) setProblem(problemOf(error));
    }
    setBusy(false);
  };
  const settle = async (finding: Finding, note: string | null) => {
    setProblem(null);
    try {
      await settleFinding(corpus, finding.id, note);
      setChanged(await lastAudit(corpus));
    } catch (error) {
      setProblem(problemOf(error));
    }
  };

  return (
    <>
      <div className="audit-top">
        <CorpusChoice />
        <Button className="button primary" isDisabled={!report?.documents || busy} onPress={() => void run()}>
          {busy ? "Comparing…" : "Run the audit"}
        </Button>
        {report && !busy && <p className="quiet small">{standing(report)}</p>}
      </div>
      {problem && <ProblemNote problem={problem} />}
      {stored.problem && <ProblemNote problem={stored.problem} again={stored.again} />}
      {report && !report.documents && <Empty title="This corpus is empty" />}
      {report?.changed === 0 && !report.findings.length && report.documents > 0 && !busy && (
        <Empty title="No disagreements were found">
          <p>No two of these documents make the same statement with different values. Other kinds of conflict may be missed.</p>
        </Empty>
      )}
      {report && !busy && partsOf(report).map((part) => (
        <Part key={part.name} {...part} report={report} corpus={corpus} settle={canWrite ? (finding, note) => void settle(finding, note) : null} />
      ))}
    </>
  );
}
