import { useMemo, useState } from "react";
import type { Quotation, Reply } from "../api/types";
import { layOut, shownLinks } from "../lib/layout";
import { passageNumber, pointGraph } from "../lib/statements";
import { plural } from "../lib/words";
import { useApp } from "../state/app";
import { Empty, NoneMade } from "../ui/Notes";
import { NeedsResult } from "../ui/NeedsResult";
import { Network } from "./graph/Network";
import { PassageCard } from "./graph/PassageCard";
import { Why } from "./graph/Why";

function Drawn({ result, corpus }: { result: Reply; corpus: string }) {
  const { passages } = useApp();
  const graph = useMemo(() => pointGraph(result, passages), [result, passages]);
  const links = useMemo(() => shownLinks(graph.links), [graph]);
  const layout = useMemo(() => layOut(graph.points, links), [graph, links]);
  const [chosen, setChosen] = useState<string | null>(null);
  const [opened, setOpened] = useState<Quotation | null>(null);
  const selected = chosen ?? links[0]?.id ?? "";
  const choose = (id: string) => {
    setChosen(id);
    setOpened(null);
  };
  const choosing = { selected, onSelect: choose };
  const apart = statedIn(graph.points.filter(({ number }) => number !== null).flatMap(({ chunks }) => chunks), result);
  const alone = apart.filter((id) => !layout.cards.has(id));
  const others = (result.graph?.chunks.length ?? 0) - layout.cards.size;
  return (
    <>
      {links.length > 0 && (
        <p className="small quiet graph-top" role="status">
          {plural(links.length, "relation")} between {plural(layout.cards.size, "passage")}
          {others > 0 && `; ${plural(others, "other passage")} ${others === 1 ? "has" : "have"} none`}. Choose one to read its sentences.
        </p>
      )}
      {!graph.links.length && (
        <Empty title="No relations were found">
          <p>Nothing that the {plural(result.graph?.chunks.length ?? 0, "passage")} say supports, limits or contradicts something else.</p>
        </Empty>
      )}
      <div className="graph-body">
        <div className="flow" tabIndex={0} role="region" aria-label="Statements by passage">
          {links.length > 0 && <Network result={result} points={graph.points} layout={layout} {...choosing} />}
          {alone.length > 0 && (
            <div className="alone">
              {alone.map((id) => (
                <PassageCard key={id} result={result} id={id} points={graph.points} {...choosing} />
              ))}
            </div>
          )}
        </div>
        <Why result={result} corpus={corpus} graph={graph} opened={opened} onOpen={setOpened} {...choosing} />
      </div>
    </>
  );
}

/** These passages, each once, in the order in which they were read. */
const statedIn = (ids: string[], result: Reply): string[] =>
  [...new Set(ids)].sort((a, b) => passageNumber(result, a) - passageNumber(result, b));

function Shown({ result, corpus }: { result: Reply; corpus: string }) {
  if (!result.graph?.chunks.length && !result.answer.statements?.statements.length) return <NoneMade what="graph" answer={result.answer} />;
  return <Drawn key={result.text + result.seconds} result={result} corpus={corpus} />;
}

export default function GraphView() {
  return (
    <NeedsResult what="how its passages relate to each other">
      {(result, asked) => <Shown result={result} corpus={asked.corpus} />}
    </NeedsResult>
  );
}
