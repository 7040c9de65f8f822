import { useEffect, useState, type FormEvent, type KeyboardEvent, type ReactNode } from "react";
import { Button, Form, Label, TextArea, TextField } from "react-aria-components";
import { plural, presetName } from "../lib/words";
import { useApp } from "../state/app";
import { Choice } from "./Choice";
import { StageStrip } from "./StageStrip";

export function CorpusChoice() {
  const { corpora, corpus, go } = useApp();
  const options = (corpora ?? []).map((c) => ({ id: c.name, name: c.name, note: plural(c.documents, "document") }));
  return <Choice label="Corpus" value={corpus} options={options} onChange={(id) => go({ corpus: id })} />;
}

export function QuestionBar({ children }: { children?: ReactNode }) {
  const { route, go, corpus, choices, run, ask, stop } = useApp();
  const [text, setText] = useState(route.q);
  useEffect(() => setText(route.q), [route.q]);
  const running = run.status === "running";
  const send = () => text.trim() && corpus && ask(text.trim(), corpus, route.preset);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send();
  };
  const typed = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  const presets = choices.presets.map((id) => ({ id, name: presetName(id) }));
  return (
    <Form className="question" onSubmit={submit}>
      <TextField className="field question-field" value={text} onChange={setText} maxLength={4000}>
        <Label>Question</Label>
        <TextArea rows={1} dir="auto" placeholder="Ask about the documents" onKeyDown={typed} />
      </TextField>
      <CorpusChoice />
      <Choice label="Preset" value={route.preset} options={presets} onChange={(preset) => go({ preset })} />
      {running ? (
        <Button className="button" onPress={stop}>
          Stop
        </Button>
      ) : (
        <Button type="submit" className="button primary" isDisabled={!text.trim() || !corpus}>
          Ask
        </Button>
      )}
      {children}
      <StageStrip />
    </Form>
  );
}
