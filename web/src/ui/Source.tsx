import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { Button } from "react-aria-components";
import { chunksOf, documentText } from "../api/calls";
import type { Chunk, Span } from "../api/types";
import { typography } from "../lib/markdown";
import { CodeText, pieces, type Mark, type Piece } from "../lib/text";
import { useLoaded } from "../state/useLoaded";
import { ProblemNote } from "./Notes";

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
  const sections = headings.filter((heading) => heading !== title);
  return [page === null ? "" : `Page ${page}`, sections.join(" › ")].filter(Boolean).join(" · ");
}

interface Props {
  corpus: string;
  doc: string;
  title: string;
  /** Scrolled to. */
  at: Span | null;
  marks: Mark[];
  /** Told of marked characters that are pointed at or focused, and of null when they are left. */
  onPoint?: (span: Span | null) => void;
  onChoose?: (span: Span) => void;
  /** Stands beside the place. */
  children?: ReactNode;
}

function bounds(text: CodeText, at: Span | null, wide: boolean): [number, number] {
  if (wide) return [0, text.length];
  const start = Math.max(0, (at?.start ?? 0) - AROUND);
  return [start < AROUND ? 0 : start, Math.min(text.length, (at?.end ?? 0) + AROUND)];
}

function useScrolled(at: Span | null, shown: string) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const mark = at && box.current?.querySelector(`[data-start="${at.start}"]`);
    if (!box.current) return;
    if (!(mark instanceof HTMLElement)) {
      box.current.scrollTop = 0;
      return;
    }
    const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const top = mark.offsetTop - box.current.clientHeight / 3;
    box.current.scrollTo({ top, behavior: calm ? "instant" : "smooth" });
  }, [at?.start, at?.end, shown]);
  return box;
}

interface StretchProps {
  piece: Piece;
  /** Its characters cut by how they are set. */
  set: Piece[];
  onPoint: Props["onPoint"];
  onChoose: Props["onChoose"];
}

/** Characters of a document; marked ones can be pointed at where somebody listens. */
function Stretch({ piece, set, onPoint, onChoose }: StretchProps) {
  const words = set.map(({ start, text, kinds }) => (
    <span key={start} className={kinds.join(" ") || undefined}>
      {text}
    </span>
  ));
  if (!piece.kinds.length) return words;
  const named = { "data-start": piece.start, className: piece.kinds.join(" ") };
  if (!onPoint || !onChoose || !piece.text.trim()) return <mark {...named}>{words}</mark>;
  const span = { start: piece.start, end: piece.start + [...piece.text].length };
  const keyed = (event: KeyboardEvent) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    onChoose(span);
  };
  return (
    <mark
      {...named}
      role="button"
      tabIndex={0}
      onPointerEnter={(event) => event.pointerType === "mouse" && onPoint(span)}
      onPointerLeave={() => onPoint(null)}
      onFocus={(event) => event.currentTarget.matches(":focus-visible") && onPoint(span)}
      onBlur={() => onPoint(null)}
      onClick={() => onChoose(span)}
      onKeyDown={keyed}
    >
      {words}
    </mark>
  );
}

/** A document with marked characters, scrolled to one of them. */
export function Source({ corpus, doc, title, at, marks, onPoint, onChoose, children }: Props) {
  const key = doc ? `${corpus} ${doc}` : "";
  const text = useLoaded(key && `text ${key}`, () => documentText(corpus, doc));
  const chunks = useLoaded(key && `chunks ${key}`, () => chunksOf(corpus, doc));
  const [wide, setWide] = useState(false);
  useEffect(() => setWide(false), [doc]);
  const coded = useMemo(() => (text.value ? new CodeText(text.value.text) : null), [text.value]);
  const box = useScrolled(at, coded && text.value ? text.value.doc_id : "");
  const [from, to] = coded ? bounds(coded, at, wide) : [0, 0];
  const set = useMemo(() => (coded ? typography(coded, text.value?.media_type ?? "", from, to) : []), [coded, text.value, from, to]);
  const shown = useMemo(() => {
    if (!coded) return [];
    const cut = pieces(coded, marks, from, to);
    return cut.map((piece, i) => ({ piece, set: pieces(coded, set, piece.start, cut[i + 1]?.start ?? to) }));
  }, [coded, set, marks, from, to]);
  const place = at && chunks.value ? placeName(placeAt(chunks.value, at.start), title) : "";
  if (text.problem) return <ProblemNote problem={text.problem} again={text.again} />;
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
          {children}
        </div>
      </header>
      <div className="source-text" ref={box} tabIndex={0} role="region" aria-label={`Text of ${title}`}>
        {coded && (from > 0 || to < coded.length) && (
          <Button className="button small" onPress={() => setWide(true)}>
            Show the whole document
          </Button>
        )}
        <div className="document" dir="auto">
          {shown.map(({ piece, set: own }) => (
            <Stretch key={piece.start} piece={piece} set={own} onPoint={onPoint} onChoose={onChoose} />
          ))}
        </div>
      </div>
    </article>
  );
}
