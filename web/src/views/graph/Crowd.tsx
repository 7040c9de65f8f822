import { useViewport, ViewportPortal } from "@xyflow/react";
import { memo } from "react";
import type { Edge } from "../../api/types";
import { joints, type Joint, type Point } from "../../lib/layout";
import { tone } from "../../lib/words";

const HEAD = 12;

interface Props {
  edges: Edge[];
  places: Map<string, Point>;
}

function arrow({ from, to }: Joint): string {
  const angle = Math.atan2(to.y - from.y, to.x - from.x);
  const side = (turn: number) =>
    `${(to.x - HEAD * Math.cos(angle + turn)).toFixed(1)} ${(to.y - HEAD * Math.sin(angle + turn)).toFixed(1)}`;
  const [start, tip] = [from, to].map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`);
  return `M${start}L${tip}M${side(0.45)}L${tip}L${side(-0.45)}`;
}

const Paths = memo(function Paths({ edges, places }: Props) {
  const paths = { odds: "", backs: "", plain: "" };
  for (const [edge, joint] of joints(edges, places, false)) paths[tone(edge.relation)] += arrow(joint);
  return Object.entries(paths).map(([name, path]) => <path key={name} className={`crowd-${name}`} d={path} />);
});

/** Very many relations: arrows in three paths, one for each tone, instead of an element for each. */
export function Crowd({ edges, places }: Props) {
  const { zoom } = useViewport();
  return (
    <ViewportPortal>
      <svg className="crowd" width="1" height="1" aria-hidden="true" strokeWidth={1 / zoom}>
        <Paths edges={edges} places={places} />
      </svg>
    </ViewportPortal>
  );
}
