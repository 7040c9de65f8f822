import { Checkbox, CheckboxGroup } from "react-aria-components";
import type { Edge } from "../../api/types";
import { relationName, tone } from "../../lib/words";

export function kept(edges: Edge[], hidden: string[]): Edge[] {
  return edges.filter((e) => !hidden.includes(e.relation));
}

function counts(edges: Edge[]): [string, number][] {
  const found = new Map<string, number>();
  edges.forEach((e) => found.set(e.relation, (found.get(e.relation) ?? 0) + 1));
  return [...found].sort((a, b) => b[1] - a[1]);
}

interface Props {
  edges: Edge[];
  hidden: string[];
  onChange: (hidden: string[]) => void;
}

export function Filters({ edges, hidden, onChange }: Props) {
  const relations = counts(edges);
  const shown = relations.map(([name]) => name).filter((name) => !hidden.includes(name));
  const choose = (chosen: string[]) =>
    onChange(relations.map(([name]) => name).filter((name) => !chosen.includes(name)));
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
    </div>
  );
}
