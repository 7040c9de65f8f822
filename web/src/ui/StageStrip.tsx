import { STAGE_ORDER } from "../api/types";
import { NO_ANSWER, seconds, stageName } from "../lib/words";
import { useApp } from "../state/app";
import type { StageSeen } from "../state/useRun";

function shownStages(seen: StageSeen[]): { stage: string; seen: StageSeen | undefined }[] {
  const names = [...new Set([...STAGE_ORDER, ...seen.map((s) => s.stage)])];
  return names.map((stage) => ({ stage, seen: seen.find((s) => s.stage === stage) }));
}

const said = (seen: StageSeen | undefined): string => {
  if (!seen) return "not yet";
  if (seen.state === "running") return "under way";
  const time = seen.seconds === null ? "" : `, ${seconds(seen.seconds)}`;
  return (seen.state === "failed" ? "with a failure" : "done") + time;
};

/** The stages of the run, lit as they pass; afterwards the trace has them. */
export function StageStrip() {
  const { run } = useApp();
  if (run.status === "idle") return null;
  const answer = run.result?.answer.abstained ? NO_ANSWER : "The answer is ready.";
  const now = run.stages.findLast((s) => s.state === "running");
  return (
    <>
      {run.status === "running" && (
        <ol className="stages" aria-label="Stages">
          {shownStages(run.stages).map(({ stage, seen }) => (
            <li key={stage} data-state={seen?.state ?? "waiting"} title={seen?.preview.slice(0, 300)}>
              {stageName(stage)}
              <span className="hidden"> {said(seen)}</span>
            </li>
          ))}
        </ol>
      )}
      <p role="status" className="hidden">
        {run.status === "running" && now ? `${stageName(now.stage)} under way` : ""}
        {run.status === "done" ? answer : ""}
      </p>
    </>
  );
}
