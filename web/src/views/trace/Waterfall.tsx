import type { StageRecord } from "../../api/types";
import { seconds, stageName } from "../../lib/words";

function offsets(stages: StageRecord[]): number[] {
  let sum = 0;
  return stages.map((stage) => {
    sum += stage.seconds;
    return sum - stage.seconds;
  });
}

function told(stage: StageRecord): string[] {
  const counts = Object.entries(stage.counts).filter(([, count]) => count > 0);
  const why = stage.decisions.map((decision) => decision.replace(/^\w+: /, ""));
  return [...why, ...counts.map(([name, count]) => `${name}: ${count}`)];
}

function Row({ stage, from, total }: { stage: StageRecord; from: number; total: number }) {
  const { tokens_in, tokens_out, tokens_cached, calls } = stage.usage;
  const width = Math.max(0.4, (stage.seconds / total) * 100);
  return (
    <tr>
      <th scope="row">{stageName(stage.stage)}</th>
      <td className="small">
        {stage.engine}
        {stage.model && (
          <span className="quiet model">
            <bdi>{stage.model}</bdi>
          </span>
        )}
      </td>
      <td className="fall">
        <span className="fall-bar" style={{ marginLeft: `${Math.min(99.6, (from / total) * 100)}%`, width: `${width}%` }} />
      </td>
      <td className="small figures">{seconds(stage.seconds)}</td>
      <td className="small figures">
        {calls ? `${tokens_in.toLocaleString("en")} in, ${tokens_out.toLocaleString("en")} out` : "none"}
        {tokens_cached > 0 && `, ${tokens_cached.toLocaleString("en")} cached`}
      </td>
      <td className="small">
        {told(stage).map((text) => (
          <p key={text}>
            <bdi>{text}</bdi>
          </p>
        ))}
        {stage.failures.map((failure, i) => (
          <p key={i} className="bad">
            <bdi>{failure.message}</bdi> Used instead: <bdi>{failure.fallback || "nothing"}</bdi>.
          </p>
        ))}
      </td>
    </tr>
  );
}

/** The ledger: what every stage cost, one after the other. */
export function Waterfall({ stages }: { stages: StageRecord[] }) {
  const total = Math.max(0.001, stages.reduce((sum, stage) => sum + stage.seconds, 0));
  const from = offsets(stages);
  return (
    <div className="ledger-box" tabIndex={0} role="region" aria-label="Stages of the run">
      <table className="ledger">
        <thead>
          <tr className="small quiet">
            <th scope="col">Stage</th>
            <th scope="col">By</th>
            <th scope="col">
              <span className="hidden">Share of the time</span>
            </th>
            <th scope="col">Time</th>
            <th scope="col">Tokens</th>
            <th scope="col">What it did</th>
          </tr>
        </thead>
        <tbody>
          {stages.map((stage, i) => (
            <Row key={i} stage={stage} from={from[i] ?? 0} total={total} />
          ))}
        </tbody>
      </table>
    </div>
  );
}
