import { useMemo, type KeyboardEvent, type ReactNode } from "react";
import type { Markup, Span } from "../api/types";
import { cellsOf, settingOf, shownBlocks, type Block } from "../lib/markdown";
import { pieces, type CodeText, type Mark, type Piece } from "../lib/text";

interface Pointing {
  /** Called with marked characters that are pointed at or focused, and with null when they are left. */
  onPoint?: (span: Span | null) => void;
  onChoose?: (span: Span) => void;
}

interface StretchProps extends Pointing {
  piece: Piece;
  /** Its characters cut by how they are set. */
  words: ReactNode;
}

/** Characters of a document; marked ones can be pointed at if there is a listener. */
function Stretch({ piece, words, onPoint, onChoose }: StretchProps) {
  if (!piece.kinds.length) return words;
  const kinds = piece.kinds.join(" ");
  if (!onPoint || !onChoose || !piece.text.trim()) return <mark className={kinds}>{words}</mark>;
  const span = { start: piece.start, end: piece.start + [...piece.text].length };
  const keyed = (event: KeyboardEvent) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    onChoose(span);
  };
  return (
    <mark
      className={kinds}
      role="button"
      tabIndex={0}
      onPointerEnter={(event) => event.pointerType === "mouse" && onPoint(span)}
      onPointerLeave={() => onPoint(null)}
      onFocus={(event) => event.currentTarget.matches(":focus-visible") && onPoint(span)}
      onBlur={() => onPoint(null)}
      onClick={() => onChoose(span)}
      onKeyDown={keyed}
    >
      {words}
    </mark>
  );
}

interface Props extends Pointing {
  text: CodeText;
  markup: Markup;
  /** Code points that are shown. */
  from: number;
  to: number;
  marks: Mark[];
}

/** The characters of a block, without the marks of its markup. */
function Inline({ block, text, markup, from, to, marks, onPoint, onChoose }: Props & { block: Block }) {
  const start = Math.max(from, text.point(block.from));
  const end = Math.min(to, text.point(block.to));
  const set = settingOf(text, block, markup);
  const cut = pieces(text, marks, start, end);
  return cut.map((piece, i) => {
    const own = pieces(text, set, piece.start, cut[i + 1]?.start ?? end).filter(({ kinds }) => !kinds.includes("md-mark"));
    const words = own.map((part) => (
      <span key={part.start} className={part.kinds.join(" ") || undefined}>
        {part.text}
      </span>
    ));
    return <Stretch key={piece.start} piece={piece} words={words} onPoint={onPoint} onChoose={onChoose} />;
  });
}

/** Rows that follow each other are one table. */
function grouped(blocks: Block[]): Block[][] {
  const groups: Block[][] = [];
  for (const block of blocks) {
    const last = groups.at(-1);
    if (block.kind === "row" && last?.[0]?.kind === "row" && block.from - (last.at(-1)?.to ?? 0) < 400) last.push(block);
    else groups.push([block]);
  }
  return groups;
}

/** A document as it reads: headings, lists, tables and code, with marked characters. */
export function DocumentBody(props: Props) {
  const { text, markup, from, to } = props;
  const blocks = useMemo(() => shownBlocks(text, markup), [text, markup]);
  const shown = useMemo(
    () => grouped(blocks.filter((block) => text.point(block.to) > from && text.point(block.from) < to)),
    [blocks, text, from, to],
  );
  return (
    <div className="document" dir="auto">
      {shown.map(([block, ...more]) => {
        if (!block) return null;
        const { kind, level, marker } = block;
        if (kind === "rule") return <hr key={block.from} />;
        if (kind === "row") {
          return (
            <table key={block.from} className="md-table">
              <tbody>
                {[block, ...more].map((row) => (
                  <tr key={row.from}>
                    {cellsOf(text.text, row).map((cell) => (
                      <td key={cell.from}>
                        <Inline {...props} block={cell} />
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          );
        }
        return (
          <p key={block.from} className={`md-${kind}`} data-level={level || undefined} data-marker={marker || undefined}>
            <Inline {...props} block={block} />
          </p>
        );
      })}
    </div>
  );
}
