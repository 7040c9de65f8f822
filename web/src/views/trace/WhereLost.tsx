import { useMemo, useState } from "react";
import { Button, Label, TextArea, TextField } from "react-aria-components";
import { chunksOf, documents, documentText } from "../../api/calls";
import { Problem, problemOf } from "../../api/client";
import type { Question } from "../../api/open";
import type { Reply, Span } from "../../api/types";
import { fateOf, type Lost } from "../../lib/lost";
import { closestSentence, CodeText, findPassage, type Mark } from "../../lib/text";
import { documentNames } from "../../lib/words";
import { useLoaded } from "../../state/useLoaded";
import { Choice } from "../../ui/Choice";
import { ProblemNote } from "../../ui/Notes";
import { SentenceLinks } from "../../ui/SentenceLinks";
import { Source } from "../../ui/Source";

const STEPS = ["Found", "Kept as evidence", "In the answer"];
const REACHED = { unread: 0, "not retrieved": 0, "not in evidence": 1, "not used": 2, used: 3 };

const SAID = {
  unread: "These words are in no passage of the document, so they are not searched.",
  "not retrieved": "The search did not find its passage for this question.",
  "not in evidence": "Its passage was found, but these words were not among the parts that were kept as evidence.",
  "not used": "It was kept as evidence, but neither the plan nor the answer uses it.",
  used: "The answer says it.",
};

interface Found {
  doc: string;
  title: string;
  span: Span;
  lost: Lost;
}

function Fate({ found }: { found: Found }) {
  const { fate, rank, sentences } = found.lost;
  return (
    <div className="fate" role="status">
      <ol className="fate-steps">
        {STEPS.map((step, i) => (
          <li key={step} data-reached={REACHED[fate] > i}>
            {step}
            <span className="hidden">{REACHED[fate] > i ? ": yes" : ": no"}</span>
          </li>
        ))}
      </ol>
      <p>
        {SAID[fate]}
        {rank !== null && ` Its passage was number ${rank} in the search.`}{" "}
        <SentenceLinks at={sentences} />
      </p>
    </div>
  );
}

/** How many documents are searched besides the chosen one. */
const OTHERS = 30;

/** The passage word for word, else the sentence that is meant; in the first document that has it. */
async function looked(passage: string, docs: string[], asked: Question, result: Reply): Promise<Found> {
  const { corpus } = asked;
  const meant = async (text: CodeText, doc: string) => closestSentence(text, await chunksOf(corpus, doc), passage);
  for (const find of [(text: CodeText) => findPassage(text, passage), meant]) {
    for (const doc of docs.slice(0, OTHERS)) {
      const text = await documentText(corpus, doc);
      const span = await find(new CodeText(text.text), doc);
      if (span) return { doc, title: text.title, span, lost: fateOf(span, doc, await chunksOf(corpus, doc), result) };
    }
  }
  throw new Problem("No sentence of these documents says this.", "Select the passage in its document.", 0);
}

export function WhereLost({ result, asked }: { result: Reply; asked: Question }) {
  const listed = useLoaded(asked.corpus, () => documents(asked.corpus, 0, 1000));
  const [doc, setDoc] = useState("");
  const [passage, setPassage] = useState("");
  const [busy, setBusy] = useState(false);
  const [found, setFound] = useState<Found | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const chosen = doc || listed.value?.documents[0]?.doc_id || "";
  const title = listed.value?.documents.find((d) => d.doc_id === chosen)?.title ?? "";
  const marks = useMemo<Mark[]>(() => (found?.doc === chosen ? [{ span: found.span, kind: "lit" }] : []), [found, chosen]);
  const pick = () => {
    const picked = String(window.getSelection() ?? "").trim();
    if (picked) setPassage(picked);
  };
  const look = () => {
    setBusy(true);
    setProblem(null);
    const others = (listed.value?.documents ?? []).map((document) => document.doc_id).filter((id) => id !== chosen);
    looked(passage, [chosen, ...others], asked, result)
      .then((place) => {
        setDoc(place.doc);
        setFound(place);
      })
      .catch((error: unknown) => {
        setFound(null);
        setProblem(problemOf(error));
      })
      .finally(() => setBusy(false));
  };
  return (
    <section className="lost" aria-labelledby="lost">
      <h2 id="lost">Where was it lost?</h2>
      <p className="quiet small">Write what you expected in the answer, or select a passage in a document.</p>
      <div className="lost-columns">
        <div className="lost-form">
          <Choice
            label="Document"
            value={chosen}
            options={documentNames(listed.value?.documents ?? [])}
            onChange={setDoc}
          />
          <TextField className="field" value={passage} onChange={setPassage}>
            <Label>Passage</Label>
            <TextArea rows={4} dir="auto" />
          </TextField>
          <Button className="button primary" isDisabled={busy || !passage.trim() || !chosen} onPress={look}>
            {busy ? "Looking…" : "Find out"}
          </Button>
          {problem && <ProblemNote problem={problem} />}
          {found && <Fate found={found} />}
        </div>
        {chosen && (
          <div className="lost-source" onPointerUp={pick} onKeyUp={pick}>
            <Source
              corpus={asked.corpus}
              doc={chosen}
              title={title}
              at={found?.doc === chosen ? found.span : null}
              marks={marks}
            />
          </div>
        )}
      </div>
    </section>
  );
}
