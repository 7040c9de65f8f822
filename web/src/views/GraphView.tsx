import { useMemo, useRef, useState } from "react";
import { Button } from "react-aria-components";
import type { Reply, RhetoricalGraph } from "../api/types";
import { CARD, layOut, shownEdges, type Layout } from "../lib/layout";
import { standalone, savePicture, saveText, type Picture } from "../lib/save";
import { shorten } from "../lib/text";
import { plural, relationName } from "../lib/words";
import { Empty, NoneMade } from "../ui/Notes";
import { NeedsResult } from "../ui/NeedsResult";
import { edgeId, Network, useNames } from "./graph/Network";
import { Why } from "./graph/Why";

const SVG = "http://www.w3.org/2000/svg";

function element(name: string, attributes: Record<string, string | number>, text = ""): SVGElement {
  const made = document.createElementNS(SVG, name);
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, String(value)));
  made.textContent = text;
  return made;
}

/** The drawing as a file: the arrows as they are, cards and names of relations as its shapes. */
function pictureOf(svg: SVGSVGElement, layout: Layout, nameOf: ReturnType<typeof useNames>): Picture {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const text = { "font-family": "sans-serif", "text-anchor": "middle" };
  for (const [id, { x, y }] of layout.cards) {
    const { number, title, section } = nameOf(id);
    const [left, top] = [x - CARD.width / 2, y - CARD.height / 2];
    copy.append(
      element("rect", { x: left, y: top, ...CARD, rx: 6, class: "picture-card" }),
      element("text", { x, y: y - 4, "font-size": 13, "font-weight": 600, class: "picture-text", ...text }, `${number} ${shorten(title, 30)}`),
      element("text", { x, y: y + 18, "font-size": 12, class: "picture-text", ...text }, shorten(section, 36)),
    );
  }
  for (const { edge, label } of layout.arrows) {
    const look = { x: label.x, y: label.y + 4, "font-size": 12, class: "picture-name", ...text };
    copy.append(element("text", look, relationName(edge.relation)));
  }
  svg.after(copy);
  const picture = standalone(copy);
  copy.remove();
  return picture;
}

function Drawn({ result, graph }: { result: Reply; graph: RhetoricalGraph }) {
  const edges = useMemo(() => shownEdges(graph), [graph]);
  const [selected, setSelected] = useState(() => (edges[0] ? edgeId(edges[0]) : ""));
  const layout = useMemo(() => layOut(edges), [edges]);
  const nameOf = useNames(result);
  const svg = useRef<SVGSVGElement>(null);
  const save = (use: (picture: Picture) => void) => svg.current && use(pictureOf(svg.current, layout, nameOf));
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
      <div className="graph-top">
        <p className="small quiet" role="status">
          {plural(edges.length, "relation")} between {plural(layout.cards.size, "passage")}
          {others > 0 && `; ${plural(others, "other passage")} ${others === 1 ? "has" : "have"} none`}. Choose one to read its sentences.
        </p>
        <div className="graph-save">
          <Button className="button" onPress={() => save((picture) => saveText("graph.svg", "image/svg+xml", picture.text))}>
            SVG
          </Button>
          <Button className="button" onPress={() => save((picture) => void savePicture("graph", picture))}>
            PNG
          </Button>
        </div>
      </div>
      <div className="graph-body">
        <div className="flow" tabIndex={0} role="region" aria-label="Relations between passages">
          <Network ref={svg} result={result} layout={layout} selected={selected} onSelect={setSelected} />
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
