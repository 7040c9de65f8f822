import { Fragment, useRef, type KeyboardEvent } from "react";
import type { Reply } from "../../api/types";
import { partsOf, type Citation } from "../../lib/citations";
import { disputes } from "../../lib/disputes";
import { isProblem } from "../../lib/support";
import { NOT_SURE } from "../../lib/words";
import { useApp } from "../../state/app";
import { SupportFlag } from "../../ui/SupportFlag";

interface Props {
  result: Reply;
  /** Indices of the sentences that are lit. */
  lit: number[];
  chosen: number | null;
  onPoint: (at: number | null) => void;
  /** Called with a passage of a sentence whose number is clicked. */
  onPick: (at: number, chunk: string) => void;
}

/** The documents behind the raised numbers, with the page where there are pages. */
export function Cited({ result }: { result: Pick<Reply, "sources"> }) {
  const numbers = new Map<string, number[]>();
  result.sources.forEach(({ title, page }, at) => {
    const name = page === null ? title : `${title}, p. ${page}`;
    numbers.set(name, [...(numbers.get(name) ?? []), at + 1]);
  });
  return (
    <ol className="cited small quiet" aria-label="Sources">
      {[...numbers].map(([name, all]) => (
        <li key={name}>
          <span className="cited-numbers">{all.join(", ")}</span> <bdi>{name}</bdi>
        </li>
      ))}
    </ol>
  );
}

/** Reference numbers in a sentence; each opens its passage. */
function Numbers({ all, onPick }: { all: Citation[]; onPick: (chunk: string) => void }) {
  return (
    <sup className="cites">
      {all.map(({ number, chunk }, i) => (
        <Fragment key={number}>
          {i > 0 && " "}
          <button type="button" aria-label={`Source ${number}`} onClick={() => onPick(chunk)}>
            {number}
          </button>
        </Fragment>
      ))}
    </sup>
  );
}

interface SentenceProps {
  result: Reply;
  at: number;
  isLit: boolean;
  isChosen: boolean;
  onChoose: () => void;
  onKey: (event: KeyboardEvent) => void;
  onPick: (chunk: string) => void;
}

/** A sentence with its reference numbers where they are cited. Its first words are the button that chooses it. */
function Sentence({ result, at, isLit, isChosen, onChoose, onKey, onPick }: SentenceProps) {
  const sentence = result.answer.sentences[at];
  if (!sentence) return null;
  const parts = partsOf(result, at);
  const look = `${isLit ? " lit" : ""}${isProblem(sentence) ? " problem" : ""}`;
  const flags = (
    <>
      <SupportFlag sentence={sentence} />
      {disputes(result.answer, sentence).length > 0 && <span className="flag"> disputed</span>}
    </>
  );
  const first = parts.findIndex(({ text }) => text);
  const last = parts.findLastIndex(({ text }) => text);
  const button = {
    role: "button",
    tabIndex: 0,
    "aria-label": last > first ? sentence.text : undefined,
    "aria-pressed": isChosen,
    onKeyDown: onKey,
  };
  return parts.map(({ text, cites }, i) => (
    <Fragment key={i}>
      {text && (
        <bdi className={`${i === first ? "sentence" : "sentence-rest"}${look}`} onClick={onChoose} {...(i === first ? button : {})}>
          {text}
          {i === last && flags}
        </bdi>
      )}
      {cites.length > 0 && <Numbers all={cites} onPick={onPick} />}
    </Fragment>
  ));
}

export function Prose({ result, lit, chosen, onPoint, onPick }: Props) {
  const { go } = useApp();
  const box = useRef<HTMLParagraphElement>(null);
  const { sentences } = result.answer;
  const choose = (at: number) => go({ s: chosen === at ? null : at });
  const keyed = (event: KeyboardEvent, at: number) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" || event.key === " ") choose(at);
    else if (event.key === "Escape") go({ s: null });
    else if (step) box.current?.querySelectorAll<HTMLElement>(".sentence")[at + step]?.focus();
    else return;
    event.preventDefault();
  };
  return (
    <p className="prose" ref={box} dir="auto" onPointerLeave={() => onPoint(null)}>
      {result.answer.unsure && <span className="quiet">{NOT_SURE} </span>}
      {sentences.map((_, at) => (
        <span
          key={at}
          onPointerEnter={(event) => event.pointerType === "mouse" && onPoint(at)}
          onFocus={() => onPoint(at)}
          onBlur={() => onPoint(null)}
        >
          <Sentence
            result={result}
            at={at}
            isLit={lit.includes(at)}
            isChosen={chosen === at}
            onChoose={() => choose(at)}
            onKey={(event) => keyed(event, at)}
            onPick={(chunk) => onPick(at, chunk)}
          />{" "}
        </span>
      ))}
    </p>
  );
}
