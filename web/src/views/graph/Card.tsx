import type { Node, NodeProps } from "@xyflow/react";
import { memo } from "react";

export type CardNode = Node<{ number: number; title: string; text: string; told: boolean; lit: boolean }, "card">;

export const Card = memo(function Card({ data, selected }: NodeProps<CardNode>) {
  return (
    <div className={["card", selected && "card-selected", data.told && "card-told", data.lit && "card-lit"].filter(Boolean).join(" ")}>
      <p className="card-title">
        <span className="card-number">{data.number}</span>
        <bdi>{data.title}</bdi>
      </p>
      <p className="card-text small quiet" dir="auto">
        {data.text}
      </p>
    </div>
  );
});
