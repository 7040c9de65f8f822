import type { EvidenceSpan, Reply } from "../api/types";
import { relationName } from "./words";

export const NO_ANSWER = "The documents do not answer this.";
export const NOT_SURE = "Not sure that the documents answer this. Closest passages:";

interface Line {
  text: string;
  numbers: number[];
  /** Empty for a sentence that is supported. */
  state: string;
}

function lines(result: Reply): Line[] {
  return result.answer.sentences.map((sentence, at) => ({
    text: sentence.text,
    numbers: result.citations[at] ?? [],
    state: sentence.support === "supported" ? "" : sentence.support,
  }));
}

/** The place of a passage. */
export const where = (span: EvidenceSpan): string =>
  `${span.title}${span.page === null ? "" : `, p. ${span.page}`}, characters ${span.span.start} to ${span.span.end}`;

const flat = (text: string): string => text.replace(/\s+/g, " ").trim();
const inMarkdown = (text: string): string => flat(text).replace(/[\\`*_{}[\]<>#|~!]/g, "\\$&");
const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const inHtml = (text: string): string => flat(text).replace(/[&<>"']/g, (c) => ENTITIES[c] ?? c);

export function markdown(result: Reply): string {
  const { answer } = result;
  const parts = [`# ${inMarkdown(answer.query)}`];
  if (answer.abstained) parts.push(NO_ANSWER, inMarkdown(answer.abstained));
  else {
    const sentences = lines(result).map((line) => {
      const marks = line.numbers.map((n) => `[^${n}]`).join("");
      return `${inMarkdown(line.text)}${marks}${line.state && ` *(${line.state})*`}`;
    });
    if (answer.unsure) parts.push(NOT_SURE);
    parts.push(sentences.join(" "));
  }
  if (answer.disagreements.length) {
    parts.push("## Disagreements");
    const pairs = answer.disagreements.map(
      (d) =>
        `- **${relationName(d.relation)}**\n  - ${inMarkdown(d.a.text)} (${inMarkdown(where(d.a))})` +
        `\n  - ${inMarkdown(d.b.text)} (${inMarkdown(where(d.b))})`,
    );
    parts.push(pairs.join("\n"));
  }
  if (answer.nearest.length) {
    parts.push("## Closest passages");
    parts.push(answer.nearest.map((n) => `- ${inMarkdown(n.text)} (${inMarkdown(where(n))})`).join("\n"));
  }
  parts.push(...answer.notes.map((note) => `> ${inMarkdown(note)}`));
  const notes = result.sources.map((span, i) => `[^${i + 1}]: ${inMarkdown(where(span))}: “${inMarkdown(span.text)}”`);
  return `${[...parts, notes.join("\n")].filter(Boolean).join("\n\n")}\n`;
}

const STYLE =
  "body{font:17px/1.6 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem;overflow-wrap:anywhere}" +
  "h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}sup a{text-decoration:none}.no{color:#a33}small{color:#555}";

const quotation = (span: EvidenceSpan): string =>
  `<bdi>${inHtml(span.text)}</bdi> <small>(<bdi>${inHtml(where(span))}</bdi>)</small>`;

function htmlAnswer(result: Reply): string {
  const { answer } = result;
  if (answer.abstained) return `<p><strong>${NO_ANSWER}</strong> ${inHtml(answer.abstained)}</p>`;
  const sentences = lines(result).map((line) => {
    const marks = line.numbers.map((n) => `<sup><a href="#s${n}">${n}</a></sup>`).join(" ");
    return `<bdi>${inHtml(line.text)}</bdi>${marks}${line.state && ` <em class="no">${line.state}</em>`}`;
  });
  const unsure = answer.unsure ? `<p><strong>${NOT_SURE}</strong></p>` : "";
  return `${unsure}<p>${sentences.join(" ")}</p>`;
}

const section = (title: string, items: string[], tag = "ul"): string =>
  items.length ? `<h2>${title}</h2><${tag}>${items.join("")}</${tag}>` : "";

export function html(result: Reply): string {
  const { answer } = result;
  const odds = answer.disagreements.map(
    (d) => `<li>${quotation(d.a)}<br><strong>${inHtml(relationName(d.relation))}</strong><br>${quotation(d.b)}</li>`,
  );
  const body = [
    `<h1><bdi>${inHtml(answer.query)}</bdi></h1>`,
    htmlAnswer(result),
    section("Disagreements", odds),
    section("Closest passages", answer.nearest.map((n) => `<li>${quotation(n)}</li>`)),
    section("Notes", answer.notes.map((note) => `<li>${inHtml(note)}</li>`)),
    section("Sources", result.sources.map((s, i) => `<li id="s${i + 1}">${quotation(s)}</li>`), "ol"),
  ];
  const head = `<meta charset="utf-8"><title>${inHtml(answer.query)}</title><style>${STYLE}</style>`;
  return `<!doctype html><html lang="en"><head>${head}</head><body>${body.join("\n")}</body></html>\n`;
}
