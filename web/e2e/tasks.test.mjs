/** Five things that people come for, each with the clicks that it takes. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, FLU, launch, opened, says, settled, shown, upload } from "./browser.mjs";
import { pdf } from "./pdf.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** A page that counts what is clicked in it. */
async function visit(hash, options) {
  const visited = await opened(browser, hash, options);
  let clicks = 0;
  const click = async (locator) => {
    clicks += 1;
    await locator.click();
  };
  return { ...visited, click, clicks: () => clicks };
}

test("the first answer on the examples: one click, and the page says what to look for and who writes", async () => {
  const { page, done, click, clicks } = await visit("", {});
  await page.route("**/corpora", async (route) => {
    const { corpora } = await (await route.fetch()).json();
    return route.fulfill({ json: { corpora: corpora.filter(({ name }) => ["tides", "vitamin-d"].includes(name)) } });
  });
  await page.reload();
  await says(page.getByRole("region", { name: "Start" }), "No language model is configured");
  assert.equal(await page.locator(".example").count(), 3);
  await click(page.locator(".example").first());
  await settled(page, "ask");
  assert.equal(clicks(), 1);
  await done();
});

test("the first answer on an empty machine: four clicks from no documents to a sentence", async () => {
  const { page, done, click, clicks } = await visit("", {});
  let first = true;
  await page.route("**/corpora", async (route) => {
    const { corpora } = await (await route.fetch()).json();
    const shown = first ? [] : corpora.filter(({ name }) => name === "default");
    return route.fulfill({ json: { corpora: shown } });
  });
  await page.reload();
  await click(page.getByRole("button", { name: "Add documents" }));
  const chooser = page.waitForEvent("filechooser");
  await click(page.getByRole("button", { name: "Choose files" }));
  const text = "# Ferry\n\nThe ferry to Skarholm leaves at seven in the morning. It takes forty minutes.\n";
  first = false;
  await (await chooser).setFiles({ name: "ferry.md", mimeType: "text/markdown", buffer: Buffer.from(text) });
  await click(page.getByRole("button", { name: "Ask about it" }));
  await page.getByLabel("Question").fill("When does the ferry to Skarholm leave?");
  await click(page.getByRole("button", { name: "Ask", exact: true }));
  await says(page.locator(".sentence"), "leaves at seven in the morning");
  assert.equal(clicks(), 4);
  await done();
});

test("a conflict: in the answer without a click, with its reason; both sides in context with one", async () => {
  const { page, done, click, clicks } = await visit(`#/ask${FLU}`);
  const conflicts = page.getByRole("region", { name: "Where the sources disagree" });
  await says(conflicts, "Another source says the opposite");
  await says(conflicts, "Why: One source affirms what is asked, the other denies it.");
  await click(conflicts.getByRole("button", { name: "See both in context" }).first());
  await settled(page, "disagreements");
  await eventually(async () => assert.ok((await page.locator(".pair").first().locator(".side mark.lit").count()) > 1));
  assert.equal(clicks(), 1);
  await done();
});

test("the page of a PDF that a sentence comes from: one click", async () => {
  const start = await opened(browser, "#/documents?corpus=tides");
  await upload(start.page, "mill.pdf", pdf(["The mill."], ["The mill wheel at Orrin turns twelve times a minute."]), "mill");
  await start.done();
  const { page, done, click, clicks } = await visit("#/ask?q=How+fast+does+the+mill+wheel+turn%3F&corpus=mill");
  await settled(page, "ask");
  await click(page.locator(".sentence", { hasText: "twelve times" }));
  await eventually(async () =>
    assert.equal((await page.locator(".pdf-text mark.lit").allInnerTexts()).join(""), "The mill wheel at Orrin turns twelve times a minute."),
  );
  await says(page.locator(".pdf-bar"), "Page 2 of 2");
  assert.equal(clicks(), 1);
  await done();
});

test("plain RAG next to ours: one click", async () => {
  const { page, done, click, clicks } = await visit(`#/ask${FLU}`);
  await settled(page, "ask");
  await click(page.getByRole("button", { name: "Compare with plain RAG" }));
  await page.locator(".costs").nth(1).waitFor();
  assert.deepEqual(await page.locator(".answer-column > h2").allInnerTexts(), ["disco-rag", "Plain RAG"]);
  assert.equal(clicks(), 1);
  await done();
});

test("three files of which two are broken: the third is read, and each says what became of it", async () => {
  const { page, done, click, clicks } = await visit("#/documents?corpus=uploads");
  await page.getByLabel("Add to corpus").fill("three");
  const chooser = page.waitForEvent("filechooser");
  await click(page.getByRole("button", { name: "Choose files" }));
  const file = (name, text) => ({ name, mimeType: "text/plain", buffer: Buffer.from(text) });
  await (await chooser).setFiles([file("a.exe", "MZ"), file("b.pdf", "%PDF-1.7 broken"), file("c.md", "# Quay\n\nThe quay was built in 1904.\n")]);
  await says(page.getByRole("alert"), "a.exe cannot be read: its format is not known.");
  await says(page.locator(".job"), "b.pdf: could not be read");
  await says(page.locator(".documents tbody"), "c.md");
  await says(page.locator(".documents th"), /c\.md · 1 kB · 1 passage · .*\d{4}/);
  await click(page.getByRole("button", { name: "Text of c.md" }));
  await says(page.locator(".opened .document"), "The quay was built in 1904.");
  assert.equal(clicks(), 2);
  await done();
});

test("a corpus without example questions says what to do, and where there are examples: one click", async () => {
  const { page, done, click, clicks } = await visit("#/ask?corpus=mill", {});
  await says(page.getByRole("region", { name: "Start" }), "Write your question into the field above");
  assert.equal(await page.locator(".example").count(), 0);
  await click(page.getByRole("button", { name: "vitamin-d", exact: true }));
  await page.locator(".example").first().waitFor();
  assert.equal(clicks(), 1);
  await done();
});

test("a conversation stays under its first question, shows the answer of its link, and is deleted", async () => {
  const { page, done } = await opened(browser, "#/ask?corpus=vitamin-d");
  const [question, second] = ["Who should take vitamin D in winter?", "Does vitamin D prevent flu?"];
  const asked = (text) => eventually(async () => assert.equal(await page.getByLabel("Question").inputValue(), text));
  const prose = page.locator(".answer .prose");
  const ask = async (text) => {
    await page.getByLabel("Question").fill(text);
    await page.keyboard.press("Enter");
    await settled(page, "ask");
    return prose.innerText();
  };
  const first = await ask(question);
  await page.waitForURL(/thread=/);
  const turns = page.locator(".thread-bar .pick");
  await ask(second);
  await says(turns, question);
  await says(page.locator(".thread-bar"), "each question is answered on its own");
  await shown(page, "conversation");
  const last = await prose.innerText();
  assert.notEqual(last, first);
  await page.goBack();
  await asked(question);
  await eventually(async () => assert.equal(await prose.innerText(), first));
  await page.goForward();
  await asked(second);
  await eventually(async () => assert.equal(await prose.innerText(), last));
  await page.reload();
  await settled(page, "ask");
  assert.equal(await prose.innerText(), last);
  await turns.filter({ hasText: question }).click();
  await asked(question);
  assert.equal(await prose.innerText(), first);
  await page.reload();
  await settled(page, "ask");
  await asked(question);
  assert.equal(await prose.innerText(), first);
  await page.getByRole("button", { name: "New conversation" }).click();
  await page.locator(".thread", { hasText: question }).click();
  await settled(page, "ask");
  await asked(second);
  assert.equal(await prose.innerText(), last);
  await page.getByRole("button", { name: "New conversation" }).click();
  await page.getByRole("button", { name: `Delete the conversation: ${question}` }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await page.locator(".thread", { hasText: question }).waitFor({ state: "detached" });
  await done();
});

test("another corpus starts another conversation, and a question without an answer leaves none", async () => {
  const { page, wrong } = await opened(browser, "#/ask?corpus=vitamin-d");
  const ask = async (text) => {
    await page.getByLabel("Question").fill(text);
    await page.keyboard.press("Enter");
  };
  await ask("Is vitamin D made in the skin?");
  await settled(page, "ask");
  await page.waitForURL(/thread=/);
  const thread = () => /thread=([0-9a-f]+)/.exec(page.url())?.[1];
  const first = thread();
  await page.getByRole("button", { name: /Corpus/ }).click();
  await page.getByRole("option", { name: /tides/ }).click();
  await ask("What causes tides?");
  await says(page.locator(".source h3"), /tide/i);
  assert.notEqual(thread(), first);

  await page.getByRole("button", { name: "New conversation" }).click();
  const error = { type: "ModelError", message: "It broke.", hint: "" };
  await page.route("**/ask", (route) => route.fulfill({ status: 502, json: { error } }));
  const gone = page.waitForRequest((request) => request.method() === "DELETE" && request.url().includes("/threads/"));
  await ask("What breaks?");
  await gone;
  await says(page.getByRole("alert"), "It broke.");
  await page.waitForFunction(() => !location.hash.includes("thread="));
  assert.deepEqual(wrong.filter((text) => !text.includes("502")), []);
  await page.context().close();
});

test("a link to a conversation that is gone asks its question", async () => {
  const { page, wrong } = await opened(browser, `#/ask${FLU}&thread=00000000000000000000000000000000`);
  await settled(page, "ask");
  assert.doesNotMatch(page.url(), /thread=/);
  assert.deepEqual(wrong.filter((text) => !text.includes("404")), []);
  await page.context().close();
});
