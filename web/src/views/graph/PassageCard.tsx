import type { CSSProperties } from "react";
import type { Reply } from "../../api/types";
import { passageNumber, type Point } from "../../lib/statements";
import { useApp } from "../../state/app";

export interface Choosing {
  /** The id of a passage, a statement or a relation. */
  selected: string;
  onSelect: (id: string) => void;
}

interface Props extends Choosing {
  result: Reply;
  id: string;
  points: Point[];
  style?: CSSProperties;
}

/** A passage with the statements that it makes. */
export function PassageCard({ result, id, points, style, selected, onSelect }: Props) {
  const { route, passages } = useApp();
  const { sentences } = result.answer;
  const uses = (from: typeof sentences) => from.some((sentence) => sentence.evidence.some((e) => e.chunk_id === id));
  const lit = route.s === null ? [] : sentences.slice(route.s, route.s + 1);
  const own = points.filter(({ chunks, says }) => says && chunks.includes(id));
  const title = passages.get(id)?.title || own[0]?.quotations.find((q) => q.chunk_id === id)?.title || "Passage";
  return (
    <section className={["card", uses(sentences) && "card-used", uses(lit) && "card-lit"].filter(Boolean).join(" ")} style={style}>
      <button type="button" className="card-title" aria-pressed={id === selected} onClick={() => onSelect(id)}>
        <span className="card-number">{passageNumber(result, id)}</span>
        <bdi>{title}</bdi>
      </button>
      {own.map((point) => (
        <button type="button" key={point.id} className="card-text" aria-pressed={point.id === selected} onClick={() => onSelect(point.id)}>
          {point.number !== null && <span className="card-number">{`{${point.number}}`}</span>}
          {point.role !== null && point.role !== "answers" && <i>{point.role}: </i>}
          <bdi>{point.says}</bdi>
        </button>
      ))}
    </section>
  );
}
