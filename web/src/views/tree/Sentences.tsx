import { useEffect, useMemo, useRef } from "react";
import { Button, Collection, Tree, TreeItem, TreeItemContent } from "react-aria-components";
import { chunksOf } from "../../api/calls";
import type { AskResult, ShownNode, Span } from "../../api/types";
import { readOf, restingOn, within } from "../../lib/evidence";
import { counted, relationName } from "../../lib/words";
import { useApp } from "../../state/app";
import { Choice } from "../../ui/Choice";
import { Empty, ProblemNote } from "../../ui/Notes";
import { SentenceLinks } from "../../ui/SentenceLinks";
import { keyBelow, nodeOf, useLevels, type Unfolding } from "./useLevels";

const BUILDERS: Record<string, string> = {
  snapped: "Sections, paragraphs, sentences",
  slide: "Sections, paragraphs, sentences (windows)",
  "flat-sentences": "Sections, paragraphs, sentences (single)",
  "flat-chunks": "Sections and passages of 100 words",
  discourse: "RST over the document (DISRetrieval)",
  unified: "Sections, RST inside paragraphs",
  bisection: "Halves of halves",
  windows: "Neighbours, seven at a time",
  clusters: "Clusters and summaries (RAPTOR)",
  sections: "Sections and summaries (HTSIR)",
  headings: "Headings above paragraphs (RDR²)",
};

const MORE = "more";
const WAIT = "wait";
/** The line of a heading, which its section is named by already. */
const HEADING = /^#{1,6} /;

interface Row {
  id: string;
  node: ShownNode | null;
  /** Of a row that shows more: what is left below which node. */
  left: number;
  parent: number | null;
}

function rows(nodes: ShownNode[], above: string, parent: number | null, total: number): Row[] {
  const shown: Row[] = nodes.map((node) => ({ id: keyBelow(above, node.node), node, left: 0, parent }));
  const left = total - nodes.length;
  return left > 0 ? [...shown, { id: `${above}/${MORE}`, node: null, left, parent }] : shown;
}

const SENTENCES = new Set(["snapped", "slide", "flat-sentences", "discourse", "unified", "bisection"]);

const unitOf = (builder: string): string => (SENTENCES.has(builder) ? "sentence" : "passage");

interface Seen {
  unit: string;
  read: Span[];
  result: AskResult | null;
  doc: string;
}

/** What lies below a node; a row that stands in for what is not loaded, or the node would not be one that opens. */
function rowsBelow(node: ShownNode, key: string, tree: Unfolding): Row[] {
  if (!node.children) return [];
  const known = tree.below.get(node.node);
  return known ? rows(known, key, node.node, node.children) : [{ id: `${key}/${WAIT}`, node: null, left: 0, parent: node.node }];
}

/** What of the answer rests on a sentence, or how much was read of what lies below a node. */
function Marks({ node, seen, open }: { node: ShownNode; seen: Seen; open: boolean }) {
  const count = within(seen.read, node.spans);
  if (!count || !seen.result || (open && node.children > 0)) return null;
  const [span] = node.spans;
  const told = node.children || !span ? [] : restingOn(seen.result, seen.doc, span).sentences;
  return (
    <span className="leaf-marks small">
      <span className="chip">{node.children ? `${counted(count, "part")} read` : "read as evidence"}</span>
      {told.length > 0 && <SentenceLinks at={told} />}
    </span>
  );
}

function Words({ node, open, lit, unit }: { node: ShownNode; open: boolean; lit: boolean; unit: string }) {
  const size = node.leaves > 1 ? counted(node.leaves, unit) : "";
  const repeats = open && node.kind !== "summary";
  return (
    <span className="leaf-words">
      {node.relation && <span className="relation">{relationName(node.relation)}</span>}
      {node.heading ? (
        <bdi className="leaf-heading">{node.heading}</bdi>
      ) : (
        !repeats && <bdi className={`leaf-text${lit ? " told-text" : ""}${HEADING.test(node.text) ? " quiet" : ""}`}>{node.text}</bdi>
      )}
      {size && <span className="quiet small leaf-size">{size}</span>}
    </span>
  );
}

function Item({ row, tree, seen }: { row: Row; tree: Unfolding; seen: Seen }) {
  const { node } = row;
  if (!node) {
    const said = row.left ? `Show more, ${row.left.toLocaleString("en")} left` : "Loading…";
    return (
      <TreeItem id={row.id} textValue={said} className="leaf">
        <TreeItemContent>
          <span className="leaf-row">
            <span className="leaf-fold" />
            <span className={row.left ? "link" : "quiet"}>{said}</span>
          </span>
        </TreeItemContent>
      </TreeItem>
    );
  }
  return (
    <TreeItem id={row.id} textValue={node.heading || node.text} hasChildItems={node.children > 0} className="leaf">
      <TreeItemContent>
        {({ hasChildItems, isExpanded, level }) => (
          <span className="leaf-row" data-depth={Math.min(level, 10)}>
            {hasChildItems ? (
              <Button slot="chevron" className="leaf-fold">
                <span className="caret" data-open={isExpanded} aria-hidden="true" />
              </Button>
            ) : (
              <span className="leaf-fold" />
            )}
            <Words node={node} open={isExpanded} lit={!node.children && within(seen.read, node.spans) > 0} unit={seen.unit} />
            <Marks node={node} seen={seen} open={isExpanded} />
          </span>
        )}
      </TreeItemContent>
      <Collection items={rowsBelow(node, row.id, tree)} dependencies={[tree, seen]}>
        {(child: Row) => <Item row={child} tree={tree} seen={seen} />}
      </Collection>
    </TreeItem>
  );
}

const leads = (read: Span[]) => (node: ShownNode) => within(read, node.spans) > 0;

/** Opened to the evidence as soon as it is known; after that it is the reader's to open and close. */
function useOpened(tree: Unfolding, read: Span[]) {
  const { head, openTo } = tree;
  const done = useRef<unknown>(null);
  useEffect(() => {
    if (!head || done.current === head.builder + String(read.length > 0)) return;
    done.current = head.builder + String(read.length > 0);
    openTo(read.length ? leads(read) : (node) => head.roots === 1 && head.nodes[0] === node);
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
  const seen = useMemo<Seen>(() => ({ unit, read, result, doc }), [unit, read, result, doc]);
  useOpened(tree, read);
  if (tree.problem && !head) return <ProblemNote problem={tree.problem} again={tree.again} />;
  if (!head) return <p className="quiet pad">Loading…</p>;
  if (!head.builder) {
    return (
      <Empty title="No sentence tree is stored of this document">
        <p>It was read in with a retriever over passages. Read in with “retriever=snapped”, the default, it gets one.</p>
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
          {counted(head.leaves, unit)}
          {read.length > 0 && `, ${counted(read.length, "part")} read for the answer`}
        </span>
        {read.length > 0 && (
          <Button className="button" onPress={() => tree.openTo(leads(read))}>
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
