import { useEffect, useRef, useState } from "react";
import { Button, Checkbox } from "react-aria-components";
import { ask, presetSwitches } from "../api/calls";
import { problemOf, type Problem } from "../api/client";
import type { Options, Reply } from "../api/types";
import { AS_PRESET, PARTS, sideName, sideOf, type Side } from "../lib/sides";
import { presetName, seconds, tokens } from "../lib/words";
import { useApp } from "../state/app";
import { AnswerColumn } from "../ui/AnswerColumn";
import { Choice } from "../ui/Choice";
import { Empty, ProblemNote } from "../ui/Notes";
import { QuestionBar } from "../ui/QuestionBar";
import { Conflicts } from "./ask/Conflicts";
import { Namesakes } from "./ask/Namesakes";

interface SideState {
  busy: boolean;
  result: Reply | null;
  problem: Problem | null;
}

const PLAIN: Side = { preset: "auto", retriever: "dense", off: PARTS.map((part) => part.id) };
const NOTHING: SideState = { busy: false, result: null, problem: null };

const switchesOf = ({ preset, retriever, off }: Side): Options => ({
  ...presetSwitches(preset),
  ...(retriever !== AS_PRESET && { retriever }),
  ...Object.fromEntries(off.map((name) => [name, false])),
});

function nameOf(side: Side): string {
  const { preset, retriever, off } = side;
  if (sideName(side) === sideName(PLAIN)) return "Plain RAG";
  const parts = [
    presetName(preset),
    retriever === AS_PRESET ? "" : retriever,
    ...PARTS.filter((part) => off.includes(part.id)).map((part) => `no ${part.name.toLowerCase()}`),
  ];
  const name = parts.filter(Boolean).join(", ");
  return name === presetName("auto") ? "disco-rag" : name;
}

interface SettingsProps {
  label: string;
  setting: Side;
  onChange: (setting: Side) => void;
}

function Settings({ label, setting, onChange }: SettingsProps) {
  const { choices } = useApp();
  const retrievers = [AS_PRESET, ...choices.retrievers].map((id) => ({ id, name: id }));
  const toggle = (id: string, on: boolean) =>
    onChange({ ...setting, off: on ? setting.off.filter((name) => name !== id) : [...setting.off, id] });
  return (
    <fieldset className="settings panel">
      <legend>{label}</legend>
      <Choice
        label="Preset"
        value={setting.preset}
        options={choices.presets.map((id) => ({ id, name: presetName(id) }))}
        onChange={(preset) => onChange({ ...setting, preset })}
      />
      <Choice
        label="Retriever"
        value={setting.retriever}
        options={retrievers}
        onChange={(retriever) => onChange({ ...setting, retriever })}
      />
      <div className="checks">
        {PARTS.map(({ id, name }) => (
          <Checkbox key={id} className="check" isSelected={!setting.off.includes(id)} onChange={(on) => toggle(id, on)}>
            <span className="box" aria-hidden="true" />
            <span className="check-name small">{name}</span>
          </Checkbox>
        ))}
      </div>
    </fieldset>
  );
}

function Costs({ result }: { result: Reply }) {
  const facts: [string, string][] = [
    ["Seconds", seconds(result.seconds)],
    ["Cost", tokens(result.ledger.stages)],
    ["Passages", String(result.hits.length)],
    ["Sentences", String(result.answer.sentences.length)],
  ];
  return (
    <dl className="costs small">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt className="quiet">{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Column({ name, side, other }: { name: string; side: SideState; other: SideState }) {
  if (side.problem) {
    return (
      <section aria-label={name}>
        <h2>{name}</h2>
        <ProblemNote problem={side.problem} />
      </section>
    );
  }
  const silent = side.result?.answer.disagreements.length === 0 && Boolean(other.result?.answer.disagreements.length);
  return (
    <AnswerColumn title={name} answer={side.result?.answer ?? null} other={other.result?.answer ?? null}>
      {side.busy && <p className="quiet">In progress…</p>}
      {side.result && <Conflicts result={side.result} of={name} />}
      {side.result && <Namesakes answer={side.result.answer} of={name} />}
      {silent && <p className="quiet">This answer does not say that its sources disagree.</p>}
      {side.result && <Costs result={side.result} />}
    </AnswerColumn>
  );
}

const textsOf = (result: Reply): string[] => result.answer.sentences.map(({ text }) => text.trim());

/** How the sentences of the two answers differ. */
function Difference({ one, other }: { one: Reply | null; other: Reply | null }) {
  if (!one || !other) return null;
  const [here, there] = [textsOf(one), textsOf(other)];
  if (String(here) === String(there)) return "Both answers have the same sentences.";
  if (String(here.sort()) === String(there.sort())) return "Both answers have the same sentences, in a different order.";
  return (
    <>
      <span className="only">Underlined</span> sentences are in one answer only.
    </>
  );
}

function useSide() {
  const [side, setSide] = useState<SideState>(NOTHING);
  const round = useRef(0);
  const start = async (reply: Promise<Reply>) => {
    const own = ++round.current;
    const put = (found: Partial<SideState>) => own === round.current && setSide({ ...NOTHING, ...found });
    put({ busy: true });
    try {
      put({ result: await reply });
    } catch (error) {
      put({ problem: problemOf(error) });
    }
  };
  const clear = () => {
    round.current += 1;
    setSide(NOTHING);
  };
  return { side, start, clear };
}

export default function CompareView() {
  const { route, go, corpus, run } = useApp();
  const left = sideOf(route.left, { preset: route.preset, retriever: AS_PRESET, off: [] });
  const right = sideOf(route.right, PLAIN);
  const { side: a, start: startA, clear: clearA } = useSide();
  const { side: b, start: startB, clear: clearB } = useSide();
  const asWith = (side: Side) => ask({ query: route.q, corpus, switches: switchesOf(side) });
  const chosen = [route.q, corpus, sideName(left), sideName(right)].join("\n");
  useEffect(() => {
    clearA();
    clearB();
  }, [chosen]);
  const asked = useRef("");
  asked.current = chosen;
  const known = run.asked?.query === route.q && run.asked.corpus === corpus && !route.left ? run.result : null;
  const begun = useRef("");
  useEffect(() => {
    if (!known || begun.current === chosen) return;
    begun.current = chosen;
    void startA(Promise.resolve(known));
    void startB(asWith(right));
  }, [known, chosen]);
  const busy = a.busy || b.busy;
  const shown = busy || a.result || b.result || a.problem || b.problem;
  const compare = async () => {
    await startA(asWith(left));
    if (asked.current !== chosen) return;
    await startB(asWith(right));
  };
  return (
    <>
      <QuestionBar />
      {!route.q ? (
        <Empty title="Ask a question to compare two ways of answering it" />
      ) : (
        <>
          {shown && (
            <>
              <p className="small quiet">
                Plain RAG takes the passages that are nearest to the question, and their sentences in that order: no trees, no
                relations, no plan. <Difference one={a.result} other={b.result} />
              </p>
              <div className="sides" aria-live="polite" aria-busy={busy}>
                <Column name={nameOf(left)} side={a} other={b} />
                <Column name={nameOf(right)} side={b} other={a} />
              </div>
            </>
          )}
          <details className="compare-settings" open={!shown || Boolean(route.left || route.right)}>
            <summary>Compare something else</summary>
            <div className="sides">
              <Settings label="Left" setting={left} onChange={(side) => go({ left: sideName(side) })} />
              <Settings label="Right" setting={right} onChange={(side) => go({ right: sideName(side) })} />
            </div>
            <Button className="button primary compare-button" isDisabled={busy} onPress={() => void compare()}>
              {busy ? "Comparing…" : "Compare"}
            </Button>
          </details>
        </>
      )}
    </>
  );
}
