import { Checkbox, CheckboxGroup, Label, Slider, SliderOutput, SliderThumb, SliderTrack } from "react-aria-components";
import type { Edge } from "../../api/types";
import { relationName, tone } from "../../lib/words";

export interface Filter {
  hidden: string[];
  least: number;
}

export function kept(edges: Edge[], filter: Filter): Edge[] {
  return edges.filter((e) => !filter.hidden.includes(e.relation) && (e.confidence ?? 1) >= filter.least);
}

function counts(edges: Edge[]): [string, number][] {
  const found = new Map<string, number>();
  edges.forEach((e) => found.set(e.relation, (found.get(e.relation) ?? 0) + 1));
  return [...found].sort((a, b) => b[1] - a[1]);
}

interface Props {
  edges: Edge[];
  filter: Filter;
  onChange: (filter: Filter) => void;
}

export function Filters({ edges, filter, onChange }: Props) {
  const relations = counts(edges);
  const shown = relations.map(([name]) => name).filter((name) => !filter.hidden.includes(name));
  const choose = (chosen: string[]) =>
    onChange({ ...filter, hidden: relations.map(([name]) => name).filter((name) => !chosen.includes(name)) });
  return (
    <div className="filters">
      <CheckboxGroup className="checks" value={shown} onChange={choose} aria-label="Relations">
        {relations.map(([name, count]) => (
          <Checkbox key={name} value={name} className="check">
            <span className="box" aria-hidden="true" />
            <span className={`relation ${tone(name)}`}>{relationName(name)}</span>
            <span className="quiet small">{count}</span>
          </Checkbox>
        ))}
      </CheckboxGroup>
      <Slider
        className="slider"
        minValue={0}
        maxValue={1}
        step={0.05}
        value={filter.least}
        onChange={(least) => onChange({ ...filter, least: least as number })}
      >
        <Label>Least confidence</Label>
        <SliderOutput className="small" />
        <SliderTrack className="slider-track">
          <SliderThumb className="slider-thumb" />
        </SliderTrack>
      </Slider>
    </div>
  );
}
