import type { StageRecord } from "../../api/types";
import { percent, seconds, stageName } from "../../lib/words";

function offsets(stages: StageRecord[]): number[] {
  let sum = 0;
  return stages.map((stage) => {
    sum += stage.seconds;
    return sum - stage.seconds;
  });
}

const ENGINES: Record<string, string> = {
  local: "on this server",
  llm: "language model",
  off: "not used",
  stored: "made when the document was added",
  auto: "compared with the source",
};

/** A decision without the name of the stage that comes next. */
const plainly = (decision: string): string =>
  decision
    .replace(/^\w+: /, "")
    .replace(/^the retriever is (.+)$/, "Searches with the retriever $1.")
    .replace(/^(\d+) chunks were found$/, "$1 passages were found.")
    .replace(/^probability ([\d.]+)$/, (_, share: string) => `Whether the passages answer: ${percent(Number(share))} likely.`)
    .replace(/^the answer is verified$/, "Every sentence was checked.");

function notesOf(stage: StageRecord): string[] {
  const counts = Object.entries(stage.counts).filter(([, count]) => count > 0);
  const why = stage.decisions.map(plainly);
  return [...why, ...counts.map(([name, count]) => `${name}: ${count}`)];
}

function Row({ stage, from, total }: { stage: StageRecord; from: number; total: number }) {
  const { tokens_in, tokens_out, tokens_cached, calls, disk_hits } = stage.usage;
  const width = Math.max(0.4, (stage.seconds / total) * 100);
  return (
    <tr role="row">
      <th scope="row" role="rowheader">{stageName(stage.stage)}</th>
      <td role="cell" className="small by">
        {ENGINES[stage.engine] ?? stage.engine}
        {stage.model && (
          <span className="quiet model">
            <bdi>{stage.model}</bdi>
          </span>
        )}
      </td>
      <td role="cell" className="fall">
        <span className="fall-bar" style={{ marginLeft: `${Math.min(99.6, (from / total) * 100)}%`, width: `${width}%` }} />
      </td>
      <td role="cell" className="small figures time">{seconds(stage.seconds)}</td>
      <td role="cell" className="small figures">
        <span className="in-row quiet">Tokens: </span>
        {calls ? `${tokens_in.toLocaleString("en")} in, ${tokens_out.toLocaleString("en")} out` : disk_hits ? "from the cache" : "none"}
        {tokens_cached > 0 && `, ${tokens_cached.toLocaleString("en")} cached`}
      </td>
      <td role="cell" className="small did">
        {notesOf(stage).map((text) => (
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
      <table className="ledger" role="table">
        <thead role="rowgroup">
          <tr role="row" className="small quiet">
            <th scope="col" role="columnheader">Stage</th>
            <th scope="col" role="columnheader">By</th>
            <th scope="col" role="columnheader">
              <span className="hidden">Share of the time</span>
            </th>
            <th scope="col" role="columnheader">Time</th>
            <th scope="col" role="columnheader">Tokens</th>
            <th scope="col" role="columnheader">What it did</th>
          </tr>
        </thead>
        <tbody role="rowgroup">
          {stages.map((stage, i) => (
            <Row key={i} stage={stage} from={from[i] ?? 0} total={total} />
          ))}
        </tbody>
      </table>
    </div>
  );
}
