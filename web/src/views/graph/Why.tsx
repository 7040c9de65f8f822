import { useMemo } from "react";
import type { Chunk, Edge, Reply, Span } from "../../api/types";
import { CodeText } from "../../lib/text";
import { relationName, tone } from "../../lib/words";
import { useApp } from "../../state/app";
import { DocumentBody } from "../../ui/DocumentBody";
import { SentenceLinks } from "../../ui/SentenceLinks";
import { placeAt, placeName } from "../../ui/Source";
import { edgeId } from "./Network";

interface CarriedProps {
  chunk: Chunk | undefined;
  span: Span | null;
  number: number;
}

function Carried({ chunk, span, number }: CarriedProps) {
  if (!chunk || !span) return <p className="quiet">Passage {number}</p>;
  const said = [...chunk.text].slice(span.start - chunk.span.start, span.end - chunk.span.start).join("");
  return (
    <blockquote className="carried">
      <p className="quiet small">
        {number}. <bdi>{chunk.title}</bdi>
      </p>
      <p dir="auto">
        <mark className="lit">{said}</mark>
      </p>
    </blockquote>
  );
}

interface Props {
  result: Reply;
  /** Those that are drawn. */
  edges: Edge[];
  selected: string;
}

function WhyEdge({ result, edge }: { result: Reply; edge: Edge }) {
  const { passages } = useApp();
  const number = (id: string) => (result.graph?.chunks.indexOf(id) ?? -1) + 1;
  return (
    <>
      <h2>Why this relation is there</h2>
      <Carried chunk={passages.get(edge.source)} span={edge.source_span} number={number(edge.source)} />
      <p className="why-relation">
        <span className={`relation ${tone(edge.relation)}`}>{relationName(edge.relation)}</span>
        {edge.reason && <span className="small">{edge.reason}</span>}
      </p>
      <Carried chunk={passages.get(edge.target)} span={edge.target_span} number={number(edge.target)} />
    </>
  );
}

function WhyCard({ result, selected: id }: Props) {
  const { passages, go } = useApp();
  const chunk = passages.get(id);
  const text = useMemo(() => (chunk ? new CodeText(chunk.text) : null), [chunk]);
  const number = (result.graph?.chunks.indexOf(id) ?? -1) + 1;
  const users = result.answer.sentences.flatMap((s, at) => (s.evidence.some((e) => e.chunk_id === id) ? [at] : []));
  return (
    <>
      <h2>
        {number}. <bdi>{chunk?.title ?? "Passage"}</bdi>
      </h2>
      {chunk && (
        <p className="quiet small">
          <bdi>{placeName(placeAt([chunk], chunk.span.start), chunk.title)}</bdi>
        </p>
      )}
      <p className="small">
        {users.length ? "Used in " : "The answer does not use it."}
        <SentenceLinks at={users} />
      </p>
      {chunk && text && (
        <>
          <div className="passage-text" tabIndex={0} role="region" aria-label="Text of the passage">
            <DocumentBody text={text} markup={chunk.markup} from={0} to={text.length} marks={[]} />
          </div>
          <button
            type="button"
            className="link"
            onClick={() => go({ view: "tree", doc: chunk.doc_id, chunk: chunk.order })}
          >
            Its tree
          </button>
        </>
      )}
    </>
  );
}

export function Why(props: Props) {
  const { result, edges, selected } = props;
  const edge = edges.find((e) => edgeId(e) === selected);
  return (
    <aside className="why panel" aria-label="Why it is there" aria-live="polite">
      {edge ? <WhyEdge result={result} edge={edge} /> : <WhyCard {...props} />}
    </aside>
  );
}
