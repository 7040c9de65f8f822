import { Background, Controls, ReactFlow } from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { useMemo, useState } from "react";
import { Button } from "react-aria-components";
import type { Reply, RhetoricalGraph } from "../api/types";
import { placed } from "../lib/layout";
import { savePicture, saveText } from "../lib/save";
import { counted } from "../lib/words";
import { useApp } from "../state/app";
import { Empty } from "../ui/Notes";
import { NeedsResult } from "../ui/NeedsResult";
import { Card } from "./graph/Card";
import { Crowd } from "./graph/Crowd";
import { drawing } from "./graph/drawing";
import { distinct, isCrowd, lightsOf, linesOf, nodesOf, withSelected } from "./graph/elements";
import { Filters, kept } from "./graph/Filters";
import { Relation } from "./graph/Relation";
import { Why } from "./graph/Why";

const TYPES = { card: Card };
const LINES = { relation: Relation };
const FIT = { padding: 0.08, maxZoom: 1 };

function useDrawn(result: Reply, graph: RhetoricalGraph, hidden: string[], selected: string) {
  const { passages, route } = useApp();
  const places = useMemo(() => placed(graph.chunks, graph.edges), [graph]);
  const lights = useMemo(() => lightsOf(result, route.s), [result, route.s]);
  const edges = useMemo(() => kept(graph.edges, hidden), [graph, hidden]);
  const cards = useMemo(() => nodesOf(graph, places, passages, lights), [graph, places, passages, lights]);
  const nodes = useMemo(() => withSelected(cards, selected), [cards, selected]);
  const lines = useMemo(() => linesOf(graph, distinct(edges, selected), places, selected), [graph, edges, places, selected]);
  return { places, edges, nodes, lines };
}

function Drawn({ result, graph }: { result: Reply; graph: RhetoricalGraph }) {
  const [hidden, setHidden] = useState<string[]>([]);
  const [selected, setSelected] = useState("");
  const { places, nodes, edges, lines } = useDrawn(result, graph, hidden, selected);
  const picture = () => drawing(nodes, edges);
  return (
    <>
      <div className="graph-top">
        <Filters edges={graph.edges} hidden={hidden} onChange={setHidden} />
        <div className="graph-save">
          <span className="quiet small" role="status">
            {counted(nodes.length, "passage")}, {edges.length.toLocaleString("en")} of {counted(graph.edges.length, "relation")}
          </span>
          <Button className="button" onPress={() => saveText("graph.svg", "image/svg+xml", picture().text)}>
            SVG
          </Button>
          <Button className="button" onPress={() => void savePicture("graph", picture())}>
            PNG
          </Button>
        </div>
      </div>
      <div className="graph-body">
        <div className="flow">
          <ReactFlow
            nodes={nodes}
            edges={lines}
            nodeTypes={TYPES}
            edgeTypes={LINES}
            onNodeClick={(_, node) => setSelected(node.id)}
            onEdgeClick={(_, line) => setSelected(line.id)}
            onPaneClick={() => setSelected("")}
            onNodesChange={(changes) =>
              changes.forEach((change) => change.type === "select" && change.selected && setSelected(change.id))
            }
            onEdgesChange={(changes) =>
              changes.forEach((change) => change.type === "select" && change.selected && setSelected(change.id))
            }
            nodesDraggable={false}
            nodesConnectable={false}
            deleteKeyCode={null}
            onlyRenderVisibleElements
            minZoom={0.05}
            fitView
            fitViewOptions={FIT}
            proOptions={{ hideAttribution: true }}
          >
            {isCrowd(edges) && <Crowd edges={edges} places={places} />}
            <Background gap={24} color="var(--line)" />
            <Controls showInteractive={false} />
          </ReactFlow>
        </div>
        <Why result={result} selected={selected} onSelect={setSelected} />
      </div>
    </>
  );
}

function Shown({ result }: { result: Reply }) {
  if (!result.graph?.chunks.length) {
    return (
      <Empty title="There is no graph">
        <p>
          {result.answer.abstained
            ? "The documents do not answer this question, so no relations were looked for."
            : "This preset answers without one."}
        </p>
      </Empty>
    );
  }
  return <Drawn key={result.text + result.seconds} result={result} graph={result.graph} />;
}

export default function GraphView() {
  return <NeedsResult what="how its passages relate to each other">{(result) => <Shown result={result} />}</NeedsResult>;
}
