import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FLU, launch, opened, says, shown } from "./browser.mjs";
import { SAYS, verbatimReply, written } from "./written.mjs";

let browser;
let verbatim;
before(async () => {
  browser = await launch();
  verbatim = await verbatimReply();
});
after(() => browser.close());

/** In the page: a question is answered by the events that the test sends, one by one. */
function answerByHand() {
  const real = window.fetch;
  window.fetch = (url, options) => {
    if (url !== "ask") return real(url, options);
    const start = (stream) => {
      window.send = ([event, data]) => {
        stream.enqueue(new TextEncoder().encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`));
        if (event === "answer") stream.close();
      };
    };
    return Promise.resolve(new Response(new ReadableStream({ start })));
  };
}

const NOTE = "The language model did not make the answer: The endpoint did not answer in time.";
const WRITTEN = "It depends on who takes it.";

for (const [name, sentence, notes] of [
  ["the language model has written", WRITTEN, []],
  ["it has failed", null, [NOTE]],
]) {
  test(`stages and draft are shown until ${name}`, async () => {
    const { page, done } = await opened(browser, `#/ask${FLU}`, { init: answerByHand });
    const send = (event, data) => page.evaluate((sent) => window.send(sent), [event, data]);
    const draft = page.getByRole("region", { name: "Draft" });
    await page.waitForFunction(() => window.send);
    for (const stage of ["prepare", "retrieve", "generate"]) await send("start", { event: "start", stage });
    await says(draft, "Question · Find passages · Write…");
    await send("token", { event: "token", stage: "generate", token: "It depends" });
    await says(draft, "It depends");
    await shown(page, "draft");
    if (!sentence) {
      await send("restart", { event: "restart", stage: "generate" });
      await send("start", { event: "start", stage: "prepare" });
      await says(draft, "Question…");
    }
    const own = verbatim.answer.sentences[0];
    const sentences = sentence ? [{ ...own, text: sentence }] : verbatim.answer.sentences;
    const citations = verbatim.citations.slice(0, sentences.length);
    await send("answer", { ...verbatim, citations, answer: { ...verbatim.answer, sentences, notes } });
    await says(page.locator(".sentence"), sentence ?? own.text);
    assert.equal(await draft.count(), 0);
    assert.equal(await page.locator(".sentence").count(), sentences.length);
    for (const note of notes) await says(page.getByRole("region", { name: "Notes" }), note);
    await done();
  });
}

test("statements appear one after the other before the answer begins, and go if the model fails", async () => {
  const { page, done } = await opened(browser, `#/ask${FLU}`, { init: answerByHand });
  const send = (event, data) => page.evaluate((sent) => window.send(sent), [event, data]);
  const found = page.getByRole("list", { name: "Found so far" });
  const reply = written(verbatim);
  const statements = reply.answer.statements.statements;
  await page.waitForFunction(() => window.send);
  for (const stage of ["prepare", "retrieve", "relate"]) await send("start", { event: "start", stage });
  for (const [at, statement] of statements.entries()) {
    await send("statement", { event: "statement", stage: "relate", statement });
    await says(found.locator("li").nth(at), SAYS[at]);
    await page.getByText(at ? `${at + 1} statements found` : "1 statement found", { exact: true }).waitFor();
  }
  await says(found.locator("li").nth(1), "opposes");
  await says(found.locator("li").nth(1), "sunshine-pill-feature");
  await shown(page, "statements-found");
  await send("token", { event: "token", stage: "generate", token: "It depends" });
  await found.waitFor({ state: "hidden" });
  await says(page.locator(".draft"), "It depends");
  await send("start", { event: "start", stage: "prepare" });
  await page.locator(".found").waitFor({ state: "detached" });
  await send("answer", reply);
  await says(page.locator(".sentence"), reply.answer.sentences[1].text);
  await done();
});
