import { Fragment, useRef, type KeyboardEvent } from "react";
import type { Reply } from "../../api/types";
import { citationsOf, type Citation } from "../../lib/citations";
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
export function Cited({ result }: { result: Pick<Reply, "sources" | "citations"> }) {
  const numbers = new Map<string, number[]>();
  const shown = new Set(result.citations.flatMap((_, at) => citationsOf(result, at)).map(({ number }) => number));
  result.sources.forEach(({ title, page }, at) => {
    if (!shown.has(at + 1)) return;
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

/** The reference numbers after a sentence; each opens its passage. */
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
      {sentences.map((sentence, at) => (
        <span
          key={at}
          onPointerEnter={(event) => event.pointerType === "mouse" && onPoint(at)}
          onFocus={() => onPoint(at)}
          onBlur={() => onPoint(null)}
        >
          <bdi
            role="button"
            tabIndex={0}
            aria-pressed={chosen === at}
            className={`sentence${lit.includes(at) ? " lit" : ""}${isProblem(sentence) ? " problem" : ""}`}
            onClick={() => choose(at)}
            onKeyDown={(event) => keyed(event, at)}
          >
            {sentence.text}
            <SupportFlag sentence={sentence} />
            {disputes(result.answer, sentence).length > 0 && <span className="flag"> disputed</span>}
          </bdi>
          <Numbers all={citationsOf(result, at)} onPick={(chunk) => onPick(at, chunk)} />{" "}
        </span>
      ))}
    </p>
  );
}
