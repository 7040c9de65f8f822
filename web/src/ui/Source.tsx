import { lazy, Suspense, useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { Button } from "react-aria-components";
import { chunksOf, documentText } from "../api/calls";
import type { Problem } from "../api/client";
import type { Chunk, DocumentText, Span } from "../api/types";
import { CodeText, type Mark } from "../lib/text";
import { notRead } from "../lib/words";
import { useLoaded } from "../state/useLoaded";
import { DocumentBody } from "./DocumentBody";
import { ProblemNote } from "./Notes";

const PdfPages = lazy(() => import("./PdfPages"));

/** Characters before and after the place that are shown of a long document. */
const AROUND = 12_000;

export interface Place {
  page: number | null;
  headings: string[];
}

/** Page and section headings at an offset of a document. */
export function placeAt(chunks: Chunk[], offset: number): Place {
  const chunk = chunks.findLast((c) => c.span.start <= offset);
  if (!chunk) return { page: null, headings: [] };
  const section = chunk.sections.findLast(([start]) => start <= offset);
  const page = chunk.page === null ? null : chunk.page + chunk.page_breaks.filter((at) => at <= offset).length;
  return { page, headings: section ? section[1] : chunk.headings };
}

export function placeName({ page, headings }: Place, title: string): string {
  const sections = headings.filter((heading) => heading !== title && !title.endsWith(`: ${heading}`));
  return [page === null ? "" : `Page ${page}`, sections.join(" › ")].filter(Boolean).join(" · ");
}

interface Props {
  corpus: string;
  doc: string;
  title: string;
  /** Scrolled to. */
  at: Span | null;
  marks: Mark[];
  /** Called with marked characters that are pointed at or focused, and with null when they are left. */
  onPoint?: (span: Span | null) => void;
  onChoose?: (span: Span) => void;
  /** Starts with the text that was read, not with the pages. */
  asRead?: boolean;
  /** Next to the place. */
  children?: ReactNode;
}

function bounds(text: CodeText, at: Span | null, wide: boolean): [number, number] {
  if (wide) return [0, text.length];
  const start = Math.max(0, (at?.start ?? 0) - AROUND);
  return [start < AROUND ? 0 : start, Math.min(text.length, (at?.end ?? 0) + AROUND)];
}

interface TextProps extends Omit<Props, "corpus" | "doc" | "asRead" | "children"> {
  text: DocumentText;
  coded: CodeText;
}

/** The document as it was read, scrolled to the place. */
function AsText({ text, coded, title, at, marks, onPoint, onChoose }: TextProps) {
  const [wide, setWide] = useState(false);
  useEffect(() => setWide(false), [text.doc_id]);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!box.current) return;
    const mark = at && box.current.querySelector("mark.lit");
    const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const top = mark instanceof HTMLElement ? mark.offsetTop - box.current.clientHeight / 3 : 0;
    box.current.scrollTo({ top, behavior: calm || !mark ? "instant" : "smooth" });
  }, [at?.start, at?.end, text.doc_id]);
  const [from, to] = bounds(coded, at, wide);
  return (
    <div className="source-text" ref={box} tabIndex={0} role="region" aria-label={`Text of ${title}`}>
      {(from > 0 || to < coded.length) && (
        <Button className="button small" onPress={() => setWide(true)}>
          Show the whole document
        </Button>
      )}
      <DocumentBody text={coded} markup={text.markup} from={from} to={to} marks={marks} onPoint={onPoint} onChoose={onChoose} />
    </div>
  );
}

/** A document with marked characters at one of them: the page of a PDF while its file is there, else the text. */
export function Source({ corpus, doc, title, at, marks, onPoint, onChoose, asRead = false, children }: Props) {
  const key = doc ? `${corpus} ${doc}` : "";
  const text = useLoaded(key && `text ${key}`, () => documentText(corpus, doc));
  const chunks = useLoaded(key && `chunks ${key}`, () => chunksOf(corpus, doc));
  const [asText, setAsText] = useState(asRead);
  const [missing, setMissing] = useState<Problem | null>(null);
  useEffect(() => setMissing(null), [key]);
  const coded = useMemo(() => (text.value ? new CodeText(text.value.text) : null), [text.value]);
  const place = at && chunks.value ? placeName(placeAt(chunks.value, at.start), title) : "";
  if (text.problem) return <ProblemNote problem={text.problem} again={text.again} />;
  const unread = notRead(text.value?.unread ?? {});
  const paged = Boolean(text.value?.pages.length);
  const shared = { title, at, marks, onPoint, onChoose };
  return (
    <article className="source" aria-label={`Source: ${title}`}>
      <header>
        <h3>
          <bdi>{title}</bdi>
        </h3>
        <div className="source-where">
          <p className="quiet small place">
            <bdi>{place || "\u00a0"}</bdi>
          </p>
          {paged && !missing && (
            <button type="button" className="link" onClick={() => setAsText(!asText)}>
              {asText ? "Show the page" : "Text as it was read"}
            </button>
          )}
          {children}
        </div>
        {unread && <p className="quiet small">{unread}</p>}
        {missing && (
          <p className="small" role="status">
            <bdi>{missing.message}</bdi> This is the text as it was read.
          </p>
        )}
      </header>
      {text.value && coded && (!paged || asText || missing) && <AsText text={text.value} coded={coded} {...shared} />}
      {text.value && coded && paged && !asText && !missing && (
        <Suspense fallback={<p className="quiet pad">Loading…</p>}>
          <PdfPages corpus={corpus} text={text.value} coded={coded} at={at} marks={marks} onProblem={setMissing} />
        </Suspense>
      )}
    </article>
  );
}
