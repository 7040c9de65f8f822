import { useEffect, useMemo, useRef } from "react";
import type { Quotation, Reply } from "../../api/types";
import { passageNumber, pointName, type Link, type Point, type PointGraph } from "../../lib/statements";
import { CodeText } from "../../lib/text";
import { relationName, tone } from "../../lib/words";
import { useApp } from "../../state/app";
import { DocumentBody } from "../../ui/DocumentBody";
import { Role } from "../../ui/Role";
import { SentenceLinks } from "../../ui/SentenceLinks";
import { placeAt, placeName, Source } from "../../ui/Source";

interface Opening {
  opened: Quotation | null;
  onOpen: (quotation: Quotation) => void;
}

interface StatementTextProps extends Opening {
  result: Reply;
  point: Point;
}

/** What a statement says, its role, and its quotations, each of which opens its passage. */
function StatementText({ result, point, opened, onOpen }: StatementTextProps) {
  const { passages } = useApp();
  const isQuotation = point.quotations.some(({ text }) => text === point.says);
  const name = pointName(result, point);
  return (
    <div className="said">
      <p className="small">
        <span className="quiet">{name[0]?.toUpperCase() + name.slice(1)}</span>{" "}
        <Role role={point.role} />
      </p>
      {point.says && !isQuotation && (
        <p dir="auto">
          <bdi>{point.says}</bdi>
        </p>
      )}
      {point.quotations.map((quotation, at) => (
        <button
          type="button"
          className="quotation"
          key={at}
          aria-expanded={opened === quotation}
          disabled={!passages.has(quotation.chunk_id)}
          onClick={() => onOpen(quotation)}
        >
          <q dir="auto">{quotation.text}</q>{" "}
          <span className="quiet small">
            {quotation.passage}. <bdi>{quotation.title}</bdi>
          </span>
        </button>
      ))}
    </div>
  );
}

function WhyLink({ link, ...rest }: Opening & { result: Reply; link: Link }) {
  return (
    <>
      <h2>Why this relation is there</h2>
      <StatementText {...rest} point={link.source} />
      <p className="why-relation">
        <span className={`relation ${tone(link.relation)}`}>{relationName(link.relation)}</span>
        {link.about && (
          <span className="small">
            <bdi>{link.about}</bdi>
          </span>
        )}
      </p>
      <StatementText {...rest} point={link.target} />
    </>
  );
}

interface PointProps extends Opening {
  result: Reply;
  point: Point;
  links: Link[];
  onSelect: (id: string) => void;
}

/** A statement, the sentences that it is in, and its relations, also those within its passage. */
function WhyPoint({ result, point, links, onSelect, ...opening }: PointProps) {
  const told = result.answer.sentences.flatMap((s, at) => (point.number !== null && s.statements.includes(point.number) ? [at] : []));
  return (
    <>
      <h2>What it says</h2>
      <StatementText result={result} point={point} {...opening} />
      <p className="small">
        {told.length ? "In the answer: " : "Not in the answer."}
        <SentenceLinks at={told} />
      </p>
      <ul className="edges">
        {links.filter(({ source, target }) => source === point || target === point).map((link) => (
          <li key={link.id}>
            <button type="button" className="link" onClick={() => onSelect(link.id)}>
              {pointName(result, link.source)} {relationName(link.relation)} {pointName(result, link.target)}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

function WhyCard({ result, id }: { result: Reply; id: string }) {
  const { passages, go } = useApp();
  const chunk = passages.get(id);
  const text = useMemo(() => (chunk ? new CodeText(chunk.text) : null), [chunk]);
  const users = result.answer.sentences.flatMap((s, at) => (s.evidence.some((e) => e.chunk_id === id) ? [at] : []));
  return (
    <>
      <h2>
        {passageNumber(result, id)}. <bdi>{chunk?.title ?? "Passage"}</bdi>
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

/** The document of a quotation, at its words. */
function Opened({ quotation, corpus }: { quotation: Quotation; corpus: string }) {
  const { passages } = useApp();
  const doc = passages.get(quotation.chunk_id)?.doc_id ?? "";
  const marks = useMemo(() => quotation.spans.map((span) => ({ span, kind: "lit" })), [quotation]);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    void box.current?.scrollIntoView({ block: "nearest" });
  }, [quotation]);
  return (
    <div className="opened" ref={box}>
      <Source corpus={corpus} doc={doc} title={quotation.title} at={quotation.spans[0] ?? null} marks={marks} />
    </div>
  );
}

interface Props extends Opening {
  result: Reply;
  corpus: string;
  graph: PointGraph;
  selected: string;
  onSelect: (id: string) => void;
}

export function Why({ result, corpus, graph, selected, onSelect, ...opening }: Props) {
  const link = graph.links.find(({ id }) => id === selected);
  const point = graph.points.find(({ id, says }) => says && id === selected);
  return (
    <aside className="why panel" aria-label="Why it is there" aria-live="polite">
      {link && <WhyLink result={result} link={link} {...opening} />}
      {point && <WhyPoint result={result} point={point} links={graph.links} onSelect={onSelect} {...opening} />}
      {!link && !point && selected && <WhyCard result={result} id={selected} />}
      {!selected && <p className="quiet">Choose a statement to read its quotations.</p>}
      {opening.opened && <Opened quotation={opening.opened} corpus={corpus} />}
    </aside>
  );
}
