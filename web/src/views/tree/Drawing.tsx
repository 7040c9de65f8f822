import { useMemo, type KeyboardEvent, type Ref } from "react";
import type { Chunk, RstTree } from "../../api/types";
import { CodeText } from "../../lib/text";
import { COLUMN, layOut, wrapped, type TreeNode } from "../../lib/tree";
import { confident, relationName } from "../../lib/words";

const LINE_HEIGHT = 16;
const ARC = 30;

interface Props {
  chunk: Chunk;
  tree: RstTree;
  closed: ReadonlySet<string>;
  onToggle: (key: string) => void;
  zoom: number;
  ref: Ref<SVGSVGElement>;
}

const labelOf = (node: TreeNode): string => relationName(node.split?.relation ?? "");

/** Below this the parser mostly guesses. */
const WEAK = 0.5;

const isWeak = ({ split }: TreeNode): boolean => split?.confidence !== null && split?.confidence !== undefined && split.confidence < WEAK;

const surely = ({ split }: TreeNode): string =>
  split?.confidence === null || split?.confidence === undefined ? "" : `confidence ${confident(split.confidence)}`;

function Label({ x, y, node }: { x: number; y: number; node: TreeNode }) {
  return (
    <text x={x} y={y} className={`rst-label${isWeak(node) ? " rst-weak" : ""}`}>
      {labelOf(node)}
      {isWeak(node) && "?"}
      <title>{surely(node)}</title>
    </text>
  );
}

function Arc({ node, from, to }: { node: TreeNode; from: TreeNode; to: TreeNode }) {
  const top = from.y - ARC;
  const side = Math.sign(from.anchor - to.anchor);
  const end = to.anchor + side * 13;
  return (
    <>
      <path className={`rst-arc${isWeak(node) ? " rst-weak" : ""}`} d={`M${from.anchor} ${from.y}C${from.anchor} ${top} ${end} ${top} ${end} ${to.y}`} />
      <path className="rst-head" d={`M${end - 4} ${to.y - 8}L${end} ${to.y}L${end + 4} ${to.y - 8}Z`} />
      <Label x={(from.anchor + to.anchor) / 2} y={from.y - ARC * 0.75 - 5} node={node} />
    </>
  );
}

/** The lines from a node to its two children. */
function Joints({ node }: { node: TreeNode }) {
  const [left, right] = node.children;
  if (!node.split || !left || !right) return null;
  if (node.split.nuclearity === "NN") {
    return (
      <>
        {[left, right].map((child) => (
          <path key={child.key} className="rst-line" d={`M${node.anchor} ${node.y}L${child.anchor} ${child.y}`} />
        ))}
        <Label x={node.anchor} y={node.y + 34} node={node} />
      </>
    );
  }
  const [nucleus, satellite] = node.split.nuclearity === "NS" ? [left, right] : [right, left];
  return (
    <>
      <path className="rst-line" d={`M${nucleus.anchor} ${node.y}V${nucleus.y}`} />
      <Arc node={node} from={satellite} to={nucleus} />
    </>
  );
}

const range = ({ start, end }: TreeNode): string => (end - start === 1 ? `${start + 1}` : `${start + 1}–${end}`);

function Toggle({ node, onToggle }: { node: TreeNode; onToggle: (key: string) => void }) {
  const keyed = (event: KeyboardEvent) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    onToggle(node.key);
  };
  const said = [labelOf(node), `units ${range(node)}`, surely(node)].filter(Boolean).join(", ");
  return (
    <g
      role="button"
      tabIndex={0}
      className="rst-toggle"
      aria-expanded={!node.collapsed}
      aria-label={said}
      onClick={() => onToggle(node.key)}
      onKeyDown={keyed}
    >
      <circle cx={node.anchor} cy={node.y} r={12} className="rst-reach" />
      <circle cx={node.anchor} cy={node.y} r={7} />
      <path d={`M${node.anchor - 3} ${node.y}h6${node.collapsed ? `m-3 -3v6` : ""}`} />
    </g>
  );
}

function Leaf({ node, text }: { node: TreeNode; text: string }) {
  return (
    <text className={`rst-text${node.collapsed ? " rst-closed" : ""}`} y={node.y + 22}>
      <title>{text}</title>
      <tspan x={node.anchor} className="rst-number">
        {range(node)}
      </tspan>
      {wrapped(text).map((line, i) => (
        <tspan key={i} x={node.anchor} dy={LINE_HEIGHT}>
          {line}
        </tspan>
      ))}
    </text>
  );
}

export function Drawing({ chunk, tree, closed, onToggle, zoom, ref }: Props) {
  const { nodes, width } = useMemo(() => layOut(tree, closed), [tree, closed]);
  const text = useMemo(() => new CodeText(chunk.text), [chunk]);
  const textOf = ({ start, end }: TreeNode): string => {
    const first = tree.edus[start]?.start ?? 0;
    const last = tree.edus[end - 1]?.end ?? first;
    return text.slice(first - chunk.span.start, last - chunk.span.start);
  };
  const leaves = nodes.filter((node) => !node.children.length);
  const height = Math.max(...leaves.map((node) => node.y + 40 + LINE_HEIGHT * wrapped(textOf(node)).length));
  return (
    <svg ref={ref} className="rst" viewBox={`0 0 ${width} ${height}`} width={width * zoom} height={height * zoom} role="group" aria-label="RST tree">
      {nodes.map((node) => (
        <path key={node.key} className="rst-span" d={`M${node.left} ${node.y}H${node.children.length ? node.right : node.left + COLUMN}`} />
      ))}
      {nodes.map((node) => (
        <Joints key={node.key} node={node} />
      ))}
      {leaves.map((node) => (
        <Leaf key={node.key} node={node} text={textOf(node)} />
      ))}
      {nodes.filter((node) => node.split).map((node) => (
        <Toggle key={node.key} node={node} onToggle={onToggle} />
      ))}
    </svg>
  );
}
