import { useEffect, useMemo, useRef } from "react";
import { Button, Tree } from "react-aria-components";
import { chunksOf } from "../../api/calls";
import type { ShownNode, Span } from "../../api/types";
import { readOf, within } from "../../lib/evidence";
import { BUILDERS, plural } from "../../lib/words";
import { useApp } from "../../state/app";
import { Choice } from "../../ui/Choice";
import { Empty, ProblemNote } from "../../ui/Notes";
import { Item, MORE, rows, unitOf, WAIT, type Row, type Seen } from "./Leaf";
import { nodeOf, useLevels, type Unfolding } from "./useLevels";

const leads = (read: Span[]) => (node: ShownNode) => within(read, node.spans) > 0;

/** Brings the evidence that is looked for, or the first, into sight when it is drawn. */
function lookAt() {
  requestAnimationFrame(() =>
    setTimeout(() => {
      const found = document.querySelector(".leaves .used-now") ?? document.querySelector(".leaves .used-text");
      found?.scrollIntoView({ block: "nearest" });
    }),
  );
}

/** Opened to the evidence as soon as it is known; after that it is the reader's to open and close. */
function useOpened(tree: Unfolding, read: Span[]) {
  const { head, openTo } = tree;
  const done = useRef<unknown>(null);
  useEffect(() => {
    if (!head || done.current === head.builder + String(read.length > 0)) return;
    done.current = head.builder + String(read.length > 0);
    if (read.length) openTo(leads(read), lookAt);
    else openTo((node) => head.roots === 1 && head.nodes[0] === node);
  }, [head, read, openTo]);
}

/** The tree whose nodes are searched, from the document down to its sentences. */
export function Sentences({ corpus, doc, title }: { corpus: string; doc: string; title: string }) {
  const { route, go, run, passages } = useApp();
  const tree = useLevels(corpus, doc, route.builder);
  const result = run.asked?.corpus === corpus ? run.result : null;
  const read = useMemo(() => (result ? readOf(result, passages, doc) : []), [result, passages, doc]);
  const { head } = tree;
  const unit = unitOf(head?.builder ?? "");
  const seen = useMemo<Seen>(() => ({ unit, read, result, doc, sentence: route.s }), [unit, read, result, doc, route.s]);
  useOpened(tree, read);
  if (tree.problem && !head) return <ProblemNote problem={tree.problem} again={tree.again} />;
  if (!head) return <p className="quiet pad">Loading…</p>;
  if (!head.builder) {
    return (
      <Empty title="No sentence tree of this document is stored">
        <p>It was ingested for a retriever over passages. Ingest it with “retriever=snapped”, the default, to get one.</p>
      </Empty>
    );
  }
  const act = (key: string) => {
    if (key.endsWith(MORE)) {
      const above = key.slice(0, -MORE.length - 1);
      return tree.more(above ? nodeOf(above) : null);
    }
    if (key.endsWith(WAIT)) return undefined;
    const node = nodeOf(key);
    const found = [...tree.below.values(), head.nodes].flat().find((n) => n.node === node);
    if (found?.children) {
      const keys = new Set(tree.open);
      if (!keys.delete(key)) keys.add(key);
      return tree.toggle(keys);
    }
    const start = found?.spans[0]?.start;
    if (start === undefined) return undefined;
    void chunksOf(corpus, doc).then((chunks) => {
      const chunk = chunks.findLast((c) => c.span.start <= start) ?? chunks[0];
      if (chunk) go({ doc, chunk: chunk.order, whole: false });
    });
    return undefined;
  };
  return (
    <>
      <div className="tree-buttons leaves-buttons">
        {head.builders.length > 1 && (
          <Choice
            label="Tree"
            value={head.builder}
            options={head.builders.map((id) => ({ id, name: BUILDERS[id] ?? id }))}
            onChange={(builder) => go({ builder })}
          />
        )}
        <span className="quiet small">
          {plural(head.leaves, unit)}
          {read.length > 0 && `, ${plural(read.length, "part")} read for the answer`}
        </span>
        {read.length > 0 && (
          <Button className="button" onPress={() => tree.openTo(leads(read), lookAt)}>
            Open to the evidence
          </Button>
        )}
        <Button className="button" onPress={tree.closeAll}>
          Close all
        </Button>
      </div>
      {tree.problem && <ProblemNote problem={tree.problem} again={tree.again} />}
      <Tree
        aria-label={`Sentences of ${title}`}
        className="leaves"
        items={rows(head.nodes, "", null, head.roots)}
        dependencies={[tree, seen]}
        expandedKeys={tree.open}
        onExpandedChange={(keys) => tree.toggle(new Set([...keys].map(String)))}
        onAction={(key) => act(String(key))}
      >
        {(row: Row) => <Item row={row} tree={tree} seen={seen} />}
      </Tree>
      <p className="quiet small leaves-hint">Enter on a {unit}, or a click, shows the RST tree of its passage.</p>
    </>
  );
}
