import type { Reply } from "../../api/types";
import { CARD, pathOf, type Layout } from "../../lib/layout";
import { pointName, type Point } from "../../lib/statements";
import { relationName, tone } from "../../lib/words";
import { PassageCard, type Choosing } from "./PassageCard";

interface Props extends Choosing {
  result: Reply;
  points: Point[];
  layout: Layout;
}

/** The passages as cards, with an arrow and its name for each relation. */
export function Network({ result, points, layout, ...choosing }: Props) {
  const { selected, onSelect } = choosing;
  return (
    <div className="network" style={{ width: layout.width, height: layout.height }}>
      <svg width={layout.width} height={layout.height} viewBox={`0 0 ${layout.width} ${layout.height}`} aria-hidden="true">
        {layout.arrows.map(({ link, points: way }) => {
          const end = way.at(-1) ?? { x: 0, y: 0 };
          const before = way.at(-2) ?? end;
          const turn = (Math.atan2(end.y - before.y, end.x - before.x) * 180) / Math.PI;
          return (
            <g key={link.id} className={`line line-${tone(link.relation)}`} data-selected={link.id === selected}>
              <path d={pathOf(way)} fill="none" />
              <path className="line-head" d="M-10 -5L0 0L-10 5Z" transform={`translate(${end.x} ${end.y}) rotate(${turn})`} />
            </g>
          );
        })}
      </svg>
      {[...layout.cards].map(([id, { x, y, height }]) => (
        <PassageCard
          key={id}
          result={result}
          id={id}
          points={points}
          style={{ left: x - CARD.width / 2, top: y - height / 2, width: CARD.width, height }}
          {...choosing}
        />
      ))}
      {layout.arrows.map(({ link, label }) => (
        <button
          type="button"
          key={link.id}
          className={`line-name relation ${tone(link.relation)}`}
          style={{ left: label.x, top: label.y }}
          aria-pressed={link.id === selected}
          aria-label={`${pointName(result, link.source)} ${relationName(link.relation)} ${pointName(result, link.target)}`}
          onClick={() => onSelect(link.id)}
        >
          {relationName(link.relation)}
        </button>
      ))}
    </div>
  );
}
