import { documents } from "../../api/calls";
import { documentNames, plural } from "../../lib/words";
import { useApp } from "../../state/app";
import { useLoaded } from "../../state/useLoaded";
import { Empty, ProblemNote } from "../../ui/Notes";
import { ThreadList } from "./Threads";

function Model({ name }: { name: string }) {
  return (
    <p className="small quiet">
      {name ? (
        <>
          The language model <bdi>{name}</bdi> writes the answers; each sentence is checked against its source.
        </>
      ) : (
        "No language model is configured: answers are sentences of the documents, word for word."
      )}
    </p>
  );
}

function Titles({ corpus }: { corpus: string }) {
  const listed = useLoaded(corpus, () => documents(corpus, 0, 3));
  if (!listed.value?.total) return null;
  const names = documentNames(listed.value.documents).map(({ name }) => name);
  return (
    <p>
      This corpus has {plural(listed.value.total, "document")}: <bdi>{names.join(", ")}</bdi>
      {listed.value.total > names.length ? ", …" : "."}
    </p>
  );
}

/** What to do with documents that come without example questions. */
function NoExamples({ corpus }: { corpus: string }) {
  const { corpora, session, go } = useApp();
  const others = (corpora ?? []).map(({ name }) => name).filter((name) => name !== corpus && session?.examples[name]?.length);
  const link = (name: string, onClick: () => void) => (
    <button key={name} type="button" className="link" onClick={onClick}>
      {name}
    </button>
  );
  return (
    <>
      <Titles corpus={corpus} />
      <p>
        Write your question into the field above and press Enter. To see what there is to ask about, {link("read the documents", () => go({ view: "documents" }))}.
      </p>
      {others.length > 0 && (
        <p>
          There are example questions for another corpus: {others.map((name, at) => [at > 0 && ", ", link(name, () => go({ corpus: name }))])}.
        </p>
      )}
    </>
  );
}

/** Before the first question: what to ask, and what to look for. */
export function Start() {
  const { corpora, corporaProblem, refreshCorpora, corpus, route, session, ask, go, canWrite, threads } = useApp();
  if (corporaProblem) return <ProblemNote problem={corporaProblem} again={refreshCorpora} />;
  if (!corpora) return <p className="quiet pad">Loading…</p>;
  if (!corpora.length) {
    return (
      <Empty title="There are no documents yet">
        <p>Questions are answered from documents.</p>
        {canWrite ? (
          <button className="button primary" type="button" onClick={() => go({ view: "documents" })}>
            Add documents
          </button>
        ) : (
          <p>Your key may only read: someone with the role “write” must add some.</p>
        )}
      </Empty>
    );
  }
  const questions = (session?.examples[corpus] ?? []).slice(0, 3);
  return (
    <section className="start" aria-label="Start">
      <p>Ask your documents a question: every sentence of the answer has its source, and contradictions are shown.</p>
      <h2>{questions.length ? "Try one of these questions" : "Ask about these documents"}</h2>
      {questions.length ? (
        <ul>
          {questions.map((question) => (
            <li key={question}>
              <button type="button" className="example" onClick={() => ask(question, corpus, route.preset)}>
                {question}
              </button>
            </li>
          ))}
        </ul>
      ) : (
        <NoExamples corpus={corpus} />
      )}
      <p>
        Click a sentence of the answer to see it in its source. A sentence marked <span className="flag">disputed</span> is
        contradicted by another source.
      </p>
      <Model name={session?.language_model ?? ""} />
      {threads.all.length > 0 && (
        <>
          <h2>Earlier conversations</h2>
          <ThreadList />
        </>
      )}
    </section>
  );
}
