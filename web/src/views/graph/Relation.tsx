import { BaseEdge, type Edge as Line, type EdgeProps } from "@xyflow/react";
import { memo } from "react";
import type { Joint } from "../../lib/layout";

export type RelationLine = Line<{ joint: Joint }, "relation">;

/** A relation as a straight arrow between the nearest sides of its cards. */
export const Relation = memo(function Relation({ id, data, label, markerEnd, style }: EdgeProps<RelationLine>) {
  if (!data) return null;
  const { from, to, label: at } = data.joint;
  return (
    <BaseEdge
      id={id}
      path={`M${from.x} ${from.y}L${to.x} ${to.y}`}
      label={label}
      labelX={at.x}
      labelY={at.y}
      labelBgPadding={[5, 2]}
      labelBgBorderRadius={4}
      markerEnd={markerEnd}
      style={style}
      interactionWidth={16}
    />
  );
});
