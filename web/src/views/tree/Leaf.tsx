import { Button, Collection, TreeItem, TreeItemContent } from "react-aria-components";
import type { Reply, ShownNode, Span } from "../../api/types";
import { restingOn, within } from "../../lib/evidence";
import { plural, relationName } from "../../lib/words";
import { SentenceLinks } from "../../ui/SentenceLinks";
import { keyBelow, type Unfolding } from "./useLevels";

export const MORE = "more";
export const WAIT = "wait";

export interface Row {
  id: string;
  node: ShownNode | null;
  /** Of a row that shows more: what is left below which node. */
  left: number;
  parent: number | null;
}

export function rows(nodes: ShownNode[], above: string, parent: number | null, total: number): Row[] {
  const shown: Row[] = nodes.map((node) => ({ id: keyBelow(above, node.node), node, left: 0, parent }));
  const left = total - nodes.length;
  return left > 0 ? [...shown, { id: `${above}/${MORE}`, node: null, left, parent }] : shown;
}

const SENTENCES = new Set(["snapped", "slide", "flat-sentences", "discourse", "bisection"]);

export const unitOf = (builder: string): string => (SENTENCES.has(builder) ? "sentence" : "passage");

export interface Seen {
  unit: string;
  read: Span[];
  result: Reply | null;
  doc: string;
  /** Index of the sentence of the answer whose evidence is looked for. */
  sentence: number | null;
}

/** The sentences of the answer that rest on a leaf. */
function sentencesOn(node: ShownNode, seen: Seen): number[] {
  const [span] = node.spans;
  return node.children || !span || !seen.result ? [] : restingOn(seen.result, seen.doc, span).sentences;
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
  if (!count || (open && node.children > 0)) return null;
  const sentences = sentencesOn(node, seen);
  return (
    <span className="leaf-marks small">
      <span className="chip">{node.children ? `${plural(count, "part")} read` : "read as evidence"}</span>
      {sentences.length > 0 && <SentenceLinks at={sentences} />}
    </span>
  );
}

/** How a node's text is set: lit where it was read, more so where it was looked for. */
function dressOf(node: ShownNode, seen: Seen): string {
  const lit = !node.children && within(seen.read, node.spans) > 0;
  const wanted = lit && seen.sentence !== null && sentencesOn(node, seen).includes(seen.sentence);
  const dress = [lit && "used-text", wanted && "used-now"];
  return ["leaf-text", ...dress.filter(Boolean)].join(" ");
}

function Words({ node, open, seen }: { node: ShownNode; open: boolean; seen: Seen }) {
  const size = node.leaves > 1 ? plural(node.leaves, seen.unit) : "";
  const repeats = open && node.kind !== "summary";
  return (
    <span className="leaf-words">
      {node.relation && <span className="relation">{relationName(node.relation)}</span>}
      {node.kind === "summary" && <span className="relation">summary</span>}
      {node.heading ? (
        <bdi className="leaf-heading">{node.heading}</bdi>
      ) : (
        !repeats && <bdi className={dressOf(node, seen)}>{node.text.replace(/^#{1,6} /, "")}</bdi>
      )}
      {size && <span className="quiet small leaf-size">{size}</span>}
    </span>
  );
}

/** A row of the tree with the rows below it. */
export function Item({ row, tree, seen }: { row: Row; tree: Unfolding; seen: Seen }) {
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
            <Words node={node} open={isExpanded} seen={seen} />
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
