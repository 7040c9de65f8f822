/** An answer as a language model writes it, over passages that the server really has. */
import { URL_OF } from "./browser.mjs";

const QUESTION = { query: "Does vitamin D prevent flu?", corpus: "vitamin-d" };
export const CHECKED = "Quotations, figures, dates and names were checked against the sources; the meaning was not judged.";
export const SAYS = [
  "The evidence does not show that vitamin D prevents influenza",
  "Dr Vasse says that it prevents flu in everyone",
  "It prevents some cases in adults with a proven deficiency",
  "Another Dr Vasse is a botanist",
];
const ROLES = ["answers", "opposes", "restricts", "namesake"];

export async function verbatimReply() {
  const headers = { "Content-Type": "application/json" };
  return (await fetch(`${URL_OF}/ask`, { method: "POST", body: JSON.stringify(QUESTION), headers })).json();
}

const quotationOf = (e, passage) => ({ passage, chunk_id: e.chunk_id, text: e.text, spans: [e.span], title: e.title });

/** The reply with statements of four roles, their relations, a plan over them, and one sentence to check. */
export function written(reply) {
  const { answer } = reply;
  const sides = answer.sentences.map(({ evidence }) => evidence[0]);
  const passages = [5, 1, 7];
  const statement = (at, ...quoted) => ({
    number: at + 1,
    says: SAYS[at],
    quotations: quoted.map((i) => quotationOf(sides[i], passages[i])),
    role: ROLES[at],
  });
  const statements = [statement(0, 0), statement(1, 1), statement(2, 2), statement(3, 1)];
  const relations = [
    { source: 2, relation: "CONTRADICTS", target: 1, about: "whether it prevents flu" },
    { source: 3, relation: "LIMITS", target: 1, about: "who takes it" },
    { source: 4, relation: "ANOTHER", target: 2, about: "a botanist of the same name" },
  ];
  const half = { ...sides[0], span: { ...sides[0].span, end: sides[0].span.start + 12 }, text: [...sides[0].text].slice(0, 12).join("") };
  const sentence = (text, more) => ({ ...answer.sentences[0], text, support: "cited", step: 0, statements: [1], evidence: [sides[0]], ...more });
  const sentences = [
    sentence("Vitamin D does not prevent flu.", { evidence: [half, sides[0], sides[2]] }),
    sentence("Dr Vasse says otherwise.", { statements: [2], step: 1, evidence: [sides[1]] }),
    sentence("The risk fell by 77 percent.", { statements: [3], step: 2, evidence: [sides[2]], support: "check", reason: "In none of its sources: 77." }),
  ];
  const steps = [0, 1, 2].map((at) => ({ text: SAYS[at], references: [], statements: [at + 1], role: ROLES[at] }));
  const paragraph = steps.map(({ text }, at) => `${at + 1}. ${ROLES[at]}: ${text} {${at + 1}}`).join("\n");
  return {
    ...reply,
    answer: {
      ...answer,
      sentences,
      statements: { statements, relations, missing: "", dropped: { quotations: 0, statements: 0, relations: 0, steps: 0, moved: 0 } },
      plan: { paragraph, steps },
      disagreements: [{ relation: "CONTRADICTS", a: sides[0], b: sides[1], reason: "whether it prevents flu", favoured: "a", statements: [1, 2] }],
      namesakes: [{ a: sides[1], b: sides[2], reason: "a botanist of the same name", statements: [2, 4] }],
      checked: CHECKED,
    },
    graph: { ...reply.graph, edges: [] },
    sources: [half, sides[0], sides[2], sides[1]],
    citations: [[1, 2, 3], [4], [3]],
    marks: [
      [{ at: 9, numbers: [3] }, { at: 31, numbers: [1, 2] }],
      [{ at: 24, numbers: [4] }],
      [{ at: 27, numbers: [3] }],
    ],
    differences: [[[], []]],
    text: sentences.map(({ text }) => text).join(" "),
  };
}

/** Answers questions of the page with this reply; the questions are noted in the order in which they come. */
export async function answered(page, reply) {
  const asked = [];
  await page.route("**/ask", (route) => {
    asked.push(route.request().postDataJSON());
    const isStream = route.request().headers().accept === "text/event-stream";
    if (!isStream) return route.fulfill({ json: reply });
    return route.fulfill({ contentType: "text/event-stream", body: `event: answer\ndata: ${JSON.stringify(reply)}\n\n` });
  });
  await page.reload();
  return asked;
}
