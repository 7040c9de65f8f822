import { NeedsResult } from "../ui/NeedsResult";
import { Unsaid } from "./ask/Unsaid";
import { Waterfall } from "./trace/Waterfall";
import { WhereLost } from "./trace/WhereLost";

export default function TraceView() {
  return (
    <NeedsResult what="what each stage did">
      {(result, asked) => (
        <>
          <Unsaid notes={result.answer.notes} />
          <Waterfall stages={result.ledger.stages} />
          <WhereLost key={`${asked.corpus} ${asked.query}`} result={result} asked={asked} />
        </>
      )}
    </NeedsResult>
  );
}
