/** Five things that people come for, each with the clicks that it takes. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, FLU, launch, opened, says, settled, upload } from "./browser.mjs";
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
  assert.equal(await page.locator(".pair").first().locator(".side mark.lit").count() > 1, true);
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
  await page.getByLabel("Into corpus").fill("three");
  const chooser = page.waitForEvent("filechooser");
  await click(page.getByRole("button", { name: "Choose files" }));
  const file = (name, text) => ({ name, mimeType: "text/plain", buffer: Buffer.from(text) });
  await (await chooser).setFiles([file("a.exe", "MZ"), file("b.json", "{"), file("c.md", "# Quay\n\nThe quay was built in 1904.\n")]);
  await says(page.getByRole("alert"), "a.exe cannot be read: its format is not known.");
  await says(page.locator(".job"), "b.json: could not be read");
  await says(page.locator(".documents tbody"), "c.md");
  await says(page.locator(".documents th"), /c\.md · 1 kB · 1 passage · .*\d{4}/);
  await click(page.getByRole("button", { name: "Text of c.md" }));
  await says(page.locator(".opened .document"), "The quay was built in 1904.");
  assert.equal(clicks(), 2);
  await done();
});

test("a conversation stays under its first question, is opened again, and is deleted", async () => {
  const { page, done } = await opened(browser, "#/ask?corpus=vitamin-d");
  const question = "Who should take vitamin D in winter?";
  const ask = async (text) => {
    await page.getByLabel("Question").fill(text);
    await page.keyboard.press("Enter");
    await settled(page, "ask");
  };
  await ask(question);
  await page.waitForURL(/talk=/);
  await ask("Does vitamin D prevent flu?");
  await says(page.locator(".talk-bar .pick"), question);
  await page.reload();
  await settled(page, "ask");
  await page.locator(".talk-bar .pick", { hasText: question }).click();
  await eventually(async () => assert.equal(await page.getByLabel("Question").inputValue(), question));
  await page.getByRole("button", { name: "New conversation" }).click();
  await page.locator(".talk", { hasText: question }).click();
  await settled(page, "ask");
  await page.getByRole("button", { name: "New conversation" }).click();
  await page.getByRole("button", { name: `Delete the conversation: ${question}` }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await page.locator(".talk", { hasText: question }).waitFor({ state: "detached" });
  await done();
});
