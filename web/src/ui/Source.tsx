import { useEffect, useMemo, useRef, useState } from "react";
import { Button } from "react-aria-components";
import { chunksOf, documentText } from "../api/calls";
import type { Chunk, Span } from "../api/types";
import { CodeText, pieces, type Mark } from "../lib/text";
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

/** A document with marked characters, scrolled to one of them. */
export function Source({ corpus, doc, title, at, marks }: Props) {
  const key = doc ? `${corpus} ${doc}` : "";
  const text = useLoaded(key && `text ${key}`, () => documentText(corpus, doc));
  const chunks = useLoaded(key && `chunks ${key}`, () => chunksOf(corpus, doc));
  const [wide, setWide] = useState(false);
  useEffect(() => setWide(false), [doc]);
  const coded = useMemo(() => (text.value ? new CodeText(text.value.text) : null), [text.value]);
  const box = useScrolled(at, coded && text.value ? text.value.doc_id : "");
  const [from, to] = coded ? bounds(coded, at, wide) : [0, 0];
  const shown = useMemo(() => (coded ? pieces(coded, marks, from, to) : []), [coded, marks, from, to]);
  const place = at && chunks.value ? placeName(placeAt(chunks.value, at.start), title) : "";
  if (text.problem) return <ProblemNote problem={text.problem} again={text.again} />;
  return (
    <article className="source" aria-label={`Source: ${title}`}>
      <header>
        <h3>
          <bdi>{title}</bdi>
        </h3>
        <p className="quiet small place">
          <bdi>{place || "\u00a0"}</bdi>
        </p>
      </header>
      <div className="source-text" ref={box} tabIndex={0} role="region" aria-label={`Text of ${title}`}>
        {coded && (from > 0 || to < coded.length) && (
          <Button className="button small" onPress={() => setWide(true)}>
            Show the whole document
          </Button>
        )}
        <div className="document" dir="auto">
          {shown.map((piece) =>
            piece.kinds.length ? (
              <mark key={piece.start} data-start={piece.start} className={piece.kinds.join(" ")}>
                {piece.text}
              </mark>
            ) : (
              <span key={piece.start}>{piece.text}</span>
            ),
          )}
        </div>
      </div>
    </article>
  );
}
