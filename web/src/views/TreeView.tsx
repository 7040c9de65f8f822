import { useMemo, useRef, useState, type KeyboardEvent } from "react";
import { Button } from "react-aria-components";
import { chunksOf, documents } from "../api/calls";
import { problemOf, send, type Problem } from "../api/client";
import type { Chunk, RstTree, StoredDocument } from "../api/types";
import { save } from "../lib/save";
import { shorten } from "../lib/text";
import { closedAtFirst, keyOf, readable } from "../lib/tree";
import { documentNames, plural } from "../lib/words";
import { useApp } from "../state/app";
import { useLoaded } from "../state/useLoaded";
import { Choice } from "../ui/Choice";
import { Empty, ProblemNote } from "../ui/Notes";
import { CorpusChoice } from "../ui/QuestionBar";
import { placeAt, placeName } from "../ui/Source";
import { Drawing } from "./tree/Drawing";

const LISTED = 1000;

const ZOOMS = [0.4, 0.55, 0.75, 1, 1.35, 1.8];

function Grown({ chunk, tree, corpus }: { chunk: Chunk; tree: RstTree; corpus: string }) {
  const [zoom, setZoom] = useState(1);
  const box = useRef<HTMLDivElement>(null);
  const fit = () => {
    const { viewBox } = svg.current ?? {};
    if (!box.current || !viewBox) return;
    setZoom(Math.min(1.35, (box.current.clientWidth - 2) / viewBox.baseVal.width, (box.current.clientHeight - 2) / viewBox.baseVal.height));
  };
  const step = (by: 1 | -1) => setZoom((old) => (by > 0 ? ZOOMS.find((z) => z > old) : ZOOMS.findLast((z) => z < old)) ?? old);
  const keyed = (event: KeyboardEvent) => {
    const act = { "+": () => step(1), "-": () => step(-1), "0": fit }[event.key];
    act?.();
  };
  const [closed, setClosed] = useState<ReadonlySet<string>>(() => closedAtFirst(tree));
  const [problem, setProblem] = useState<Problem | null>(null);
  const svg = useRef<SVGSVGElement>(null);
  const toggle = (key: string) =>
    setClosed((old) => (old.has(key) ? new Set([...old].filter((other) => other !== key)) : new Set([...old, key])));
  const file = async (format: string) => {
    try {
      const path = `trees/${chunk.doc_id}?corpus=${encodeURIComponent(corpus)}&chunk=${chunk.order}&format=${format}`;
      save(`tree.${format}`, await (await send(path)).blob());
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  const all = tree.splits.map((split) => keyOf(split.start, split.end));
  return (
    <>
      <div className="tree-buttons">
        <span className="quiet small">{plural(tree.edus.length, "unit")}; “?” marks a relation that the parser is not sure of</span>
        <Button className="button" aria-label="Smaller" onPress={() => step(-1)}>
          −
        </Button>
        <Button className="button" aria-label="Larger" onPress={() => step(1)}>
          +
        </Button>
        <Button className="button" onPress={fit}>
          Fit
        </Button>
        <Button className="button" onPress={() => setClosed(new Set())}>
          Open all
        </Button>
        <Button className="button" onPress={() => setClosed(new Set(all.slice(1)))}>
          Close all
        </Button>
        <Button className="button" aria-label="Save as rs3" onPress={() => void file("rs3")}>
          rs3
        </Button>
      </div>
      {problem && <ProblemNote problem={problem} />}
      <div className="tree-box" ref={box} tabIndex={0} role="region" aria-label="Drawing of the tree" onKeyDown={keyed}>
        <Drawing ref={svg} zoom={zoom} chunk={chunk} tree={tree} closed={closed} onToggle={toggle} />
      </div>
    </>
  );
}

function Chosen({ corpus, doc }: { corpus: string; doc: StoredDocument }) {
  const { route, go } = useApp();
  const chunks = useLoaded(`${corpus} ${doc.doc_id}`, () => chunksOf(corpus, doc.doc_id));
  if (chunks.problem) return <ProblemNote problem={chunks.problem} again={chunks.again} />;
  if (!chunks.value) return <p className="quiet pad">Loading…</p>;
  const chunk = chunks.value.find((c) => c.order === (route.chunk ?? 0)) ?? chunks.value[0];
  if (!chunk) return <Empty title="This document has no passages" />;
  const tree = chunk.tree && readable(chunk, chunk.tree);
  const options = chunks.value.map((c) => {
    const place = placeName(placeAt([c], c.span.start), c.title);
    const said = shorten(place || c.text.replace(/[#*`\s]+/g, " ").trim(), 80);
    return { id: String(c.order), name: `${c.order + 1}: ${said}` };
  });
  return (
    <>
      <div className="tree-passage">
        <Choice
          label="Passage"
          value={String(chunk.order)}
          options={options}
          onChange={(order) => go({ doc: doc.doc_id, chunk: Number(order) })}
        />
      </div>
      {tree?.edus.length === 0 && <Empty title="This passage has no sentences, only headings, links or code" />}
      {tree && tree.edus.length > 0 && <Grown key={chunk.id} chunk={chunk} tree={tree} corpus={corpus} />}
      {!tree && (
        <Empty title="This passage has no tree">
          <p>It was ingested without one; the first question that needs it will build it.</p>
        </Empty>
      )}
    </>
  );
}

export default function TreeView() {
  const { route, go, corpus, run } = useApp();
  const listed = useLoaded(corpus, () => documents(corpus, 0, LISTED));
  const options = useMemo(
    () => documentNames(listed.value?.documents ?? []),
    [listed.value],
  );
  const sources = run.asked?.corpus === corpus && run.result ? run.result.sources.map((source) => source.doc_id) : [];
  const named = (id?: string) => listed.value?.documents.find((d) => d.doc_id === id);
  const doc = named(route.doc) ?? named(sources[0]) ?? listed.value?.documents[0];
  return (
    <>
      <div className="tree-top">
        <CorpusChoice />
        <Choice
          label="Document"
          value={doc?.doc_id ?? ""}
          options={options}
          onChange={(id) => go({ doc: id, chunk: 0 })}
        />
      </div>
      {listed.problem && <ProblemNote problem={listed.problem} again={listed.again} />}
      {listed.value && !doc && <Empty title="This corpus is empty" />}
      {doc && <Chosen key={doc.doc_id} corpus={corpus} doc={doc} />}
    </>
  );
}
