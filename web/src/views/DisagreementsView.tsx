import { useMemo } from "react";
import { chunksOf, documentText } from "../api/calls";
import type { Question } from "../api/open";
import type { Answer, Chunk, Disagreement, Reply, Span } from "../api/types";
import { disputes, tellers, type SideName } from "../lib/disputes";
import { CodeText, overlap } from "../lib/text";
import { clash, plural, relationName, tone } from "../lib/words";
import { useApp } from "../state/app";
import { useLoaded } from "../state/useLoaded";
import { DocumentBody } from "../ui/DocumentBody";
import { NeedsResult } from "../ui/NeedsResult";
import { Empty } from "../ui/Notes";
import { Picks } from "../ui/Picks";
import { SentenceLinks } from "../ui/SentenceLinks";
import { placeAt, placeName } from "../ui/Source";
import { Reason } from "./ask/Conflicts";
import { CorpusAudit } from "./disagreements/CorpusAudit";

/** Sentences that are shown before and after one. */
const AROUND = 3;

function contextOf(chunks: Chunk[], span: Span): Span {
  const sentences = chunks.flatMap((chunk) => chunk.sentences);
  const first = sentences.findIndex((sentence) => overlap(sentence, span));
  const last = sentences.findLastIndex((sentence) => overlap(sentence, span));
  const shown = first < 0 ? [span] : sentences.slice(Math.max(0, first - AROUND), last + AROUND + 1);
  return { start: shown[0]?.start ?? span.start, end: shown.at(-1)?.end ?? span.end };
}

interface SideProps {
  corpus: string;
  found: Disagreement;
  name: SideName;
  /** What differs, in characters of the side's text. */
  differs: Span[];
  answer: Answer;
}

function Side({ corpus, found, name, differs, answer }: SideProps) {
  const side = found[name];
  const text = useLoaded(`${corpus} ${side.doc_id}`, () => documentText(corpus, side.doc_id));
  const chunks = useLoaded(`${corpus} ${side.doc_id}`, () => chunksOf(corpus, side.doc_id));
  const coded = useMemo(() => (text.value ? new CodeText(text.value.text) : null), [text.value]);
  const marks = useMemo(() => {
    const { start } = side.span;
    const words = differs.map((span) => ({ span: { start: start + span.start, end: start + span.end }, kind: "differs" }));
    return [{ span: side.span, kind: "lit" }, ...words];
  }, [side, differs]);
  const context = chunks.value && contextOf(chunks.value, side.span);
  const sentences = tellers(answer, found, name);
  return (
    <div className="side">
      <h3>
        <bdi>{side.title}</bdi>
      </h3>
      <p className="quiet small place">
        <bdi>{(chunks.value && placeName(placeAt(chunks.value, side.span.start), side.title)) || "\u00a0"}</bdi>
      </p>
      <div className="context">
        {coded && context && text.value ? (
          <DocumentBody text={coded} markup={text.value.markup} from={context.start} to={context.end} marks={marks} />
        ) : (
          <mark className="lit">{side.text}</mark>
        )}
      </div>
      <p className="small used-by">
        {sentences.length ? "In the answer: " : "Not in the answer."}
        <SentenceLinks at={sentences} />
        {found.favoured === name && <span className="followed">The answer follows this one.</span>}
      </p>
    </div>
  );
}

function Pair({ found, corpus, result }: { found: Disagreement; corpus: string; result: Reply }) {
  const { answer } = result;
  const [a, b] = result.differences[answer.disagreements.indexOf(found)] ?? [[], []];
  return (
    <li className="pair">
      <header>
        <h2>
          {clash(found.relation).both} <span className={`relation ${tone(found.relation)}`}>{relationName(found.relation)}</span>
        </h2>
        {found.reason && (
          <p className="small">
            <Reason found={found} />
          </p>
        )}
      </header>
      <div className="sides">
        <Side corpus={corpus} found={found} name="a" differs={a} answer={answer} />
        <Side corpus={corpus} found={found} name="b" differs={b} answer={answer} />
      </div>
    </li>
  );
}

function ofSentence(answer: Answer, at: number | null): Disagreement[] {
  const sentence = at === null ? undefined : answer.sentences[at];
  const own = sentence ? disputes(answer, sentence) : [];
  return own.length ? own : answer.disagreements;
}

function Pairs({ result, asked }: { result: Reply; asked: Question }) {
  const { route, go } = useApp();
  const { answer } = result;
  if (!answer.disagreements.length) {
    return (
      <Empty title="No disagreements were found">
        <p>No contradiction was found among the passages for this question.</p>
      </Empty>
    );
  }
  const shown = ofSentence(answer, route.s);
  return (
    <>
      <p className="quiet small">
        {shown.length === answer.disagreements.length
          ? plural(shown.length, "disagreement")
          : `${shown.length} of ${plural(answer.disagreements.length, "disagreement")}: those of sentence ${(route.s ?? 0) + 1}. `}
        {shown.length < answer.disagreements.length && (
          <button type="button" className="link" onClick={() => go({ s: null })}>
            Show all
          </button>
        )}
      </p>
      <ul>
        {shown.map((found, i) => (
          <Pair key={i} found={found} corpus={asked.corpus} result={result} />
        ))}
      </ul>
    </>
  );
}

const PARTS = [
  { value: false, name: "In this answer" },
  { value: true, name: "In the whole corpus" },
];

export default function DisagreementsView() {
  const { route, go, corpus } = useApp();
  return (
    <>
      <Picks label="Disagreements" value={route.ofCorpus} options={PARTS} onChange={(ofCorpus) => go({ ofCorpus })} />
      {route.ofCorpus ? (
        <CorpusAudit key={corpus} corpus={corpus} />
      ) : (
        <NeedsResult what="where its sources disagree">{(result, asked) => <Pairs result={result} asked={asked} />}</NeedsResult>
      )}
    </>
  );
}
