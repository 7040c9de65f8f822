import { useMemo, useState } from "react";
import type { Reply, RhetoricalGraph } from "../api/types";
import { layOut, shownEdges } from "../lib/layout";
import { plural } from "../lib/words";
import { Empty, NoneMade } from "../ui/Notes";
import { NeedsResult } from "../ui/NeedsResult";
import { edgeId, Network } from "./graph/Network";
import { Why } from "./graph/Why";

function Drawn({ result, graph }: { result: Reply; graph: RhetoricalGraph }) {
  const edges = useMemo(() => shownEdges(graph), [graph]);
  const [selected, setSelected] = useState(() => (edges[0] ? edgeId(edges[0]) : ""));
  const layout = useMemo(() => layOut(edges), [edges]);
  const others = graph.chunks.length - layout.cards.size;
  if (!edges.length) {
    return (
      <Empty title="No relations were found">
        <p>No sentence of the {plural(graph.chunks.length, "passage")} supports, limits or contradicts another one.</p>
      </Empty>
    );
  }
  return (
    <>
      <p className="small quiet graph-top" role="status">
        {plural(edges.length, "relation")} between {plural(layout.cards.size, "passage")}
        {others > 0 && `; ${plural(others, "other passage")} ${others === 1 ? "has" : "have"} none`}. Choose one to read its sentences.
      </p>
      <div className="graph-body">
        <div className="flow" tabIndex={0} role="region" aria-label="Relations between passages">
          <Network result={result} layout={layout} selected={selected} onSelect={setSelected} />
        </div>
        <Why result={result} edges={edges} selected={selected} />
      </div>
    </>
  );
}

function Shown({ result }: { result: Reply }) {
  if (!result.graph?.chunks.length) return <NoneMade what="graph" answer={result.answer} />;
  return <Drawn key={result.text + result.seconds} result={result} graph={result.graph} />;
}

export default function GraphView() {
  return <NeedsResult what="how its passages relate to each other">{(result) => <Shown result={result} />}</NeedsResult>;
}
