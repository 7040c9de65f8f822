import type { Edge, Reply } from "../../api/types";
import { CARD, pathOf, type Layout } from "../../lib/layout";
import { relationName, tone } from "../../lib/words";
import { useApp } from "../../state/app";
import { placeAt, placeName } from "../../ui/Source";

export const edgeId = (edge: Edge): string => `${edge.source} ${edge.target}`;

interface Props {
  result: Reply;
  layout: Layout;
  selected: string;
  onSelect: (id: string) => void;
}

/** Title and section of a passage, or its first words where it has no section. */
function useNames(result: Reply) {
  const { passages } = useApp();
  return (id: string) => {
    const chunk = passages.get(id);
    const number = (result.graph?.chunks.indexOf(id) ?? -1) + 1;
    const title = chunk?.title || `Passage ${number}`;
    const edge = result.graph?.edges.find(({ source, target }) => source === id || target === id);
    const at = (edge?.source === id ? edge.source_span : edge?.target_span)?.start ?? chunk?.span.start ?? 0;
    const section = chunk ? placeName(placeAt([chunk], at), chunk.title) : "";
    return { number, title, section: section || (chunk?.text.replace(/[#\s]+/g, " ").trim().slice(0, 60) ?? "") };
  };
}

/** The passages as cards, with an arrow and its name for each relation. */
export function Network({ result, layout, selected, onSelect }: Props) {
  const { route } = useApp();
  const nameOf = useNames(result);
  const { sentences } = result.answer;
  const uses = (id: string, from: typeof sentences) => from.some((sentence) => sentence.evidence.some((e) => e.chunk_id === id));
  const lit = route.s === null ? [] : sentences.slice(route.s, route.s + 1);
  const at = ({ x, y }: { x: number; y: number }) => ({ left: x, top: y });
  return (
    <div className="network" style={{ width: layout.width, height: layout.height }}>
      <svg width={layout.width} height={layout.height} viewBox={`0 0 ${layout.width} ${layout.height}`} aria-hidden="true">
        {layout.arrows.map(({ edge, points }) => {
          const end = points.at(-1) ?? { x: 0, y: 0 };
          const before = points.at(-2) ?? end;
          const turn = (Math.atan2(end.y - before.y, end.x - before.x) * 180) / Math.PI;
          return (
            <g key={edgeId(edge)} className={`line line-${tone(edge.relation)}`} data-selected={edgeId(edge) === selected}>
              <path d={pathOf(points)} fill="none" />
              <path className="line-head" d="M-10 -5L0 0L-10 5Z" transform={`translate(${end.x} ${end.y}) rotate(${turn})`} />
            </g>
          );
        })}
      </svg>
      {[...layout.cards].map(([id, place]) => {
        const { number, title, section } = nameOf(id);
        const kinds = ["card", uses(id, sentences) && "card-used", uses(id, lit) && "card-lit"].filter(Boolean).join(" ");
        return (
          <button
            type="button"
            key={id}
            className={kinds}
            style={{ ...at({ x: place.x - CARD.width / 2, y: place.y - CARD.height / 2 }), width: CARD.width, height: CARD.height }}
            aria-pressed={id === selected}
            onClick={() => onSelect(id)}
          >
            <span className="card-title">
              <span className="card-number">{number}</span>
              <bdi>{title}</bdi>
            </span>
            <span className="card-text quiet">
              <bdi>{section}</bdi>
            </span>
          </button>
        );
      })}
      {layout.arrows.map(({ edge, label }) => (
        <button
          type="button"
          key={edgeId(edge)}
          className={`line-name relation ${tone(edge.relation)}`}
          style={at(label)}
          aria-pressed={edgeId(edge) === selected}
          aria-label={`Passage ${nameOf(edge.source).number} ${relationName(edge.relation)} passage ${nameOf(edge.target).number}`}
          onClick={() => onSelect(edgeId(edge))}
        >
          {relationName(edge.relation)}
        </button>
      ))}
    </div>
  );
}
