import { getDocument, GlobalWorkerOptions, TextLayer, type PDFDocumentProxy } from "pdfjs-dist";
import workerUrl from "pdfjs-dist/build/pdf.worker.min.mjs?url";
import { useEffect, useMemo, useRef, useState } from "react";
import { Button } from "react-aria-components";
import { changes, originalFile } from "../api/calls";
import { Problem, problemOf } from "../api/client";
import type { DocumentText, Span } from "../api/types";
import { marksOnPage } from "../lib/onPage";
import { CodeText, pieces, type Mark } from "../lib/text";
import "../styles/pdf.css";

GlobalWorkerOptions.workerSrc = workerUrl;
const ASSETS = new URL("./pdf/", new URL(workerUrl, location.href)).href;
const ZOOMS = [1, 1.4, 2, 2.8];

/** The one that was opened last stays open. */
let last: { key: string; pdf: Promise<PDFDocumentProxy> } | null = null;

function opened(corpus: string, doc: string): Promise<PDFDocumentProxy> {
  const key = `${changes} ${corpus} ${doc}`;
  if (last?.key === key) return last.pdf;
  void last?.pdf.then((pdf) => pdf.loadingTask.destroy()).catch(() => undefined);
  const file = originalFile(corpus, doc).catch((error: unknown) => Promise.reject(problemOf(error)));
  const pdf = file.then(
    (data) =>
      getDocument({
        data,
        cMapUrl: `${ASSETS}cmaps/`,
        standardFontDataUrl: `${ASSETS}standard_fonts/`,
        wasmUrl: `${ASSETS}wasm/`,
        useWasm: false,
      }).promise,
  );
  last = { key, pdf };
  pdf.catch(() => {
    if (last?.pdf === pdf) last = null;
  });
  return pdf;
}

/** An error of pdf.js is not one of the server. */
const pdfProblem = (error: unknown): Problem =>
  error instanceof Problem ? error : new Problem("The browser cannot show this PDF.", "", 0);

/** The strings of a drawn page, and the elements that hold them. */
interface Drawn {
  page: number;
  strings: string[];
  elements: HTMLElement[];
}

interface Props {
  corpus: string;
  text: DocumentText;
  coded: CodeText;
  at: Span | null;
  marks: Mark[];
  onProblem: (problem: Problem) => void;
}

/** The pages that a document was read from, one at a time, with marked characters lit. */
export default function PdfPages({ corpus, text, coded, at, marks, onProblem }: Props) {
  const [pdf, setPdf] = useState<PDFDocumentProxy | null>(null);
  const pageAt = (offset: number) => Math.max(1, text.pages.findLastIndex((start) => start <= offset) + 1);
  const wanted = pageAt(at?.start ?? 0);
  const [number, setNumber] = useState(wanted);
  const [zoom, setZoom] = useState(() => (window.innerWidth < 500 ? 2 : 0));
  const [drawn, setDrawn] = useState<Drawn | null>(null);
  const [width, setWidth] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const sheet = useRef<HTMLDivElement>(null);
  useEffect(() => setNumber(wanted), [wanted, at?.start, text.doc_id]);

  useEffect(() => {
    let live = true;
    setPdf(null);
    opened(corpus, text.doc_id).then(
      (found) => live && setPdf(found),
      (error: unknown) => live && onProblem(pdfProblem(error)),
    );
    return () => {
      live = false;
    };
  }, [corpus, text.doc_id]);

  useEffect(() => {
    if (!box.current) return undefined;
    const watch = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)));
    watch.observe(box.current);
    return () => watch.disconnect();
  }, []);

  useEffect(() => {
    if (!pdf || !width || !sheet.current) return undefined;
    const target = sheet.current;
    let live = true;
    let stop = () => undefined as void;
    const draw = async () => {
      const page = await pdf.getPage(Math.min(number, pdf.numPages));
      const textContentSource = await page.getTextContent();
      if (!live) return;
      const scale = (width * (ZOOMS[zoom] ?? 1)) / page.getViewport({ scale: 1 }).width;
      const viewport = page.getViewport({ scale });
      const dots = Math.min(3, window.devicePixelRatio || 1);
      const canvas = document.createElement("canvas");
      canvas.width = Math.floor(viewport.width * dots);
      canvas.height = Math.floor(viewport.height * dots);
      const container = document.createElement("div");
      container.className = "pdf-text";
      target.style.setProperty("--total-scale-factor", String(scale));
      const task = page.render({ canvas, viewport, transform: [dots, 0, 0, dots, 0, 0] });
      const layer = new TextLayer({ textContentSource, container, viewport });
      stop = () => {
        task.cancel();
        layer.cancel();
      };
      await Promise.all([task.promise, layer.render()]);
      if (!live) return;
      target.style.width = `${viewport.width}px`;
      target.style.height = `${viewport.height}px`;
      target.replaceChildren(canvas, container);
      setDrawn({ page: number, strings: layer.textContentItemsStr, elements: layer.textDivs });
    };
    draw().catch((error: unknown) => live && onProblem(pdfProblem(error)));
    return () => {
      live = false;
      stop();
    };
  }, [pdf, number, width, zoom]);

  const range = useMemo<Span>(() => {
    const page = drawn?.page ?? number;
    return { start: text.pages[page - 1] ?? 0, end: text.pages[page] ?? coded.length };
  }, [drawn, number, text, coded]);

  useEffect(() => {
    if (!drawn) return;
    const inside = marks.filter(({ span }) => span.end > range.start && span.start < range.end);
    const shifted = inside.map(({ span, kind }) => ({ span: { start: span.start - range.start, end: span.end - range.start }, kind }));
    const found = marksOnPage(drawn.strings, coded.of(range), shifted);
    drawn.elements.forEach((element, item) => {
      const own = found.get(item) ?? [];
      if (!own.length && !element.firstElementChild) return;
      const parts = pieces(new CodeText(drawn.strings[item] ?? ""), own).map(({ text: words, kinds }) => {
        if (!kinds.length) return document.createTextNode(words);
        const mark = document.createElement("mark");
        mark.className = kinds.join(" ");
        mark.textContent = words;
        return mark;
      });
      element.replaceChildren(...parts);
    });
    const lit = box.current?.querySelector("mark.lit");
    if (lit instanceof HTMLElement && box.current && sheet.current) {
      const top = lit.getBoundingClientRect().top - sheet.current.getBoundingClientRect().top;
      const left = lit.getBoundingClientRect().left - sheet.current.getBoundingClientRect().left;
      box.current.scrollTo({ top: top - box.current.clientHeight / 3, left: left - 24 });
    }
  }, [drawn, marks, coded, range]);

  const pages = pdf?.numPages ?? text.pages.length;
  return (
    <>
      <div className="pdf-bar">
        <Button className="button quiet-button" aria-label="Previous page" isDisabled={number <= 1} onPress={() => setNumber(number - 1)}>
          ‹
        </Button>
        <span className="small" role="status">
          Page {number} of {pages}
        </span>
        <Button className="button quiet-button" aria-label="Next page" isDisabled={number >= pages} onPress={() => setNumber(number + 1)}>
          ›
        </Button>
        <Button className="button quiet-button" aria-label="Smaller" isDisabled={zoom === 0} onPress={() => setZoom(zoom - 1)}>
          −
        </Button>
        <Button className="button quiet-button" aria-label="Larger" isDisabled={zoom === ZOOMS.length - 1} onPress={() => setZoom(zoom + 1)}>
          +
        </Button>
      </div>
      <div className="pdf-box" ref={box} tabIndex={0} role="region" aria-label={`Page ${number} of ${text.title}`} aria-busy={!drawn}>
        <div className="pdf-sheet" ref={sheet} />
      </div>
    </>
  );
}
