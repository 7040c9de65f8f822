import { useState, type DragEvent } from "react";
import { Button } from "react-aria-components";
import { moved, without, type Step } from "../../lib/plan";
import { Role } from "../../ui/Role";

interface StepsProps {
  steps: Step[];
  onChange: (steps: Step[]) => void;
}

interface ButtonsProps extends StepsProps {
  at: number;
}

function Buttons({ steps, at, onChange }: ButtonsProps) {
  const last = steps.length - 1;
  return (
    <span className="step-buttons">
      {[
        { name: `Move step ${at + 1} up`, sign: "↑", off: at === 0, next: () => moved(steps, at, at - 1) },
        { name: `Move step ${at + 1} down`, sign: "↓", off: at === last, next: () => moved(steps, at, at + 1) },
        { name: `Remove step ${at + 1}`, sign: "Remove", off: last === 0, next: () => without(steps, at) },
      ].map(({ name, sign, off, next }) => (
        <Button key={sign} className="button quiet-button" aria-label={name} isDisabled={off} onPress={() => onChange(next())}>
          {sign}
        </Button>
      ))}
    </span>
  );
}

/** What the step does for the question, if it does not answer it, and the statements behind it. */
function Basis({ step: { role, statements } }: { step: Step }) {
  if (role === null) return null;
  const numbers = `${statements.length === 1 ? "Statement" : "Statements"} ${statements.join(", ")}`;
  return (
    <span className="step-basis quiet small">
      <Role role={role} /> {numbers}
    </span>
  );
}

/** The steps of a plan, to be dragged or moved, removed and edited. */
export function Steps({ steps, onChange }: StepsProps) {
  const [dragged, setDragged] = useState<number | null>(null);
  const [over, setOver] = useState<number | null>(null);
  const ended = () => {
    setDragged(null);
    setOver(null);
  };
  const hovered = (event: DragEvent, at: number) => {
    if (dragged === null) return;
    event.preventDefault();
    setOver(at);
  };
  const dropped = (event: DragEvent, at: number) => {
    event.preventDefault();
    if (dragged !== null && dragged !== at) onChange(moved(steps, dragged, at));
    ended();
  };
  const begun = (event: DragEvent, at: number) => {
    event.dataTransfer.setData("text/plain", String(at + 1));
    event.dataTransfer.effectAllowed = "move";
    setDragged(at);
  };
  const edited = (at: number, text: string) => onChange(steps.map((step, i) => (i === at ? { ...step, text } : step)));
  return (
    <ol className="steps" aria-label="Steps of the plan">
      {steps.map((step, at) => (
        <li key={step.id} data-over={over === at && dragged !== at} onDragOver={(event) => hovered(event, at)} onDrop={(event) => dropped(event, at)}>
          <span className="step-number grip" draggable title="Drag to move" onDragStart={(event) => begun(event, at)} onDragEnd={ended}>
            {at + 1}
          </span>
          <span>
            <textarea
              className="step-edit"
              aria-label={`Step ${at + 1}`}
              dir="auto"
              rows={1}
              maxLength={20_000}
              value={step.text}
              onChange={(event) => edited(at, event.target.value)}
            />
            <Basis step={step} />
          </span>
          <Buttons steps={steps} at={at} onChange={onChange} />
        </li>
      ))}
    </ol>
  );
}
