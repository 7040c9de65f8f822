import { useMemo, useState, type FormEvent } from "react";
import { Button, Form, Input, Label, TextField } from "react-aria-components";
import type { Finding, Side } from "../../api/types";
import { CodeText, pieces } from "../../lib/text";
import { placeName, Source } from "../../ui/Source";

interface SideProps {
  side: Side;
  open: boolean;
  onOpen: () => void;
}

/** One of the two sentences, with what differs marked, and where it stands. */
function Statement({ side, open, onOpen }: SideProps) {
  const shown = useMemo(() => pieces(new CodeText(side.quote), side.lit.map((span) => ({ span, kind: "differs" }))), [side]);
  const act = open ? "Close the document" : "Show it in the document";
  return (
    <div className="side">
      <h5 className="quiet small">
        <bdi>{[side.title, placeName(side, side.title)].filter(Boolean).join(" · ")}</bdi>
      </h5>
      <blockquote dir="auto">
        {shown.map(({ start, text, kinds }) => (kinds.length ? <mark key={start} className="differs">{text}</mark> : <span key={start}>{text}</span>))}
      </blockquote>
      {side.conditions.length > 0 && (
        <p className="quiet small">
          Limits: <bdi>{side.conditions.join("; ")}</bdi>
        </p>
      )}
      <button type="button" className="link small" aria-expanded={open} aria-label={`${act}: ${side.title}`} onClick={onOpen}>
        {act}
      </button>
    </div>
  );
}

function Settle({ onSettle }: { onSettle: (note: string) => void }) {
  const [note, setNote] = useState<string | null>(null);
  if (note === null) {
    return (
      <Button className="button" onPress={() => setNote("")}>
        Settle…
      </Button>
    );
  }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSettle(note);
  };
  return (
    <Form className="settle" onSubmit={submit}>
      <TextField className="field" value={note} onChange={setNote} maxLength={2000} autoFocus>
        <Label>Note (optional)</Label>
        <Input placeholder="Why this is settled" dir="auto" />
      </TextField>
      <Button type="submit" className="button primary">
        Settle
      </Button>
      <Button className="button" onPress={() => setNote(null)}>
        Cancel
      </Button>
    </Form>
  );
}

interface Props {
  finding: Finding;
  /** The reader's note if it is settled. */
  note: string | null;
  corpus: string;
  /** Null: the reader may not settle findings. */
  settle: ((finding: Finding, note: string | null) => void) | null;
}

export function FindingPair({ finding, note, corpus, settle }: Props) {
  const [opened, setOpened] = useState<Side | null>(null);
  const { left, right } = finding;
  const statement = (side: Side) => (
    <Statement side={side} open={opened === side} onOpen={() => setOpened(opened === side ? null : side)} />
  );
  return (
    <li className="finding">
      <h4>
        <bdi>{finding.reason}</bdi>
      </h4>
      <div className="sides">
        {statement(left)}
        {statement(right)}
      </div>
      {opened && (
        <div className="opened">
          <Source
            corpus={corpus}
            doc={opened.doc_id}
            title={opened.title}
            at={opened.span}
            marks={[{ span: opened.span, kind: "lit" }]}
          />
        </div>
      )}
      {note && (
        <p className="small">
          Settled: <bdi>{note}</bdi>
        </p>
      )}
      {settle && note === null && <Settle onSettle={(said) => settle(finding, said)} />}
      {settle && note !== null && (
        <Button className="button" onPress={() => settle(finding, null)}>
          Reopen
        </Button>
      )}
    </li>
  );
}
