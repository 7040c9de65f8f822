import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FLU, launch, opened, says, shown, URL_OF } from "./browser.mjs";

let browser;
let verbatim;
before(async () => {
  browser = await launch();
  const question = { query: "Does vitamin D prevent flu?", corpus: "vitamin-d" };
  const headers = { "Content-Type": "application/json" };
  verbatim = await (await fetch(`${URL_OF}/ask`, { method: "POST", body: JSON.stringify(question), headers })).json();
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
  ["is replaced when the model has written", WRITTEN, []],
  ["stays with a note when the model fails", null, [NOTE]],
]) {
  test(`the verbatim answer is there while the language model writes, and ${name}`, async () => {
    const { page, done } = await opened(browser, `#/ask${FLU}`, { init: answerByHand });
    const send = (event, data) => page.evaluate((sent) => window.send(sent), [event, data]);
    const preliminary = page.getByRole("region", { name: "Preliminary answer" });
    const own = verbatim.answer.sentences[0];
    await page.waitForFunction(() => window.send);
    await send("preliminary", verbatim);
    await says(preliminary, "Preliminary: sentences of the sources");
    await says(preliminary, own.text);
    await send("token", { event: "token", stage: "generate", token: "It depends" });
    await says(page.getByRole("region", { name: "Draft" }), "It depends");
    await says(preliminary, own.text);
    await shown(page, "preliminary");
    const sentences = sentence ? [{ ...own, text: sentence }] : verbatim.answer.sentences;
    const citations = verbatim.citations.slice(0, sentences.length);
    await send("answer", { ...verbatim, citations, answer: { ...verbatim.answer, sentences, notes } });
    await says(page.locator(".sentence"), sentence ?? own.text);
    assert.equal(await preliminary.count(), 0);
    assert.equal(await page.locator(".sentence").count(), sentences.length);
    for (const note of notes) await says(page.getByRole("region", { name: "Notes" }), note);
    await done();
  });
}
