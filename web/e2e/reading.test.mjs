import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, FLU, launch, opened, says, settled, shown, upload, URL_OF } from "./browser.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

test("the tree of the passage behind a sentence: one click", async () => {
  const { page, done } = await opened(browser, `#/ask${FLU}`);
  await settled(page, "ask");
  await page.locator(".sentence").nth(2).click();
  await page.getByRole("button", { name: "Tree of this passage" }).click();
  await settled(page, "tree");
  assert.match(page.url(), /chunk=1/);
  await done();
});

test("a passage that is pointed at lights the sentences and steps that rest on it, by the keyboard too", async () => {
  const { page, done } = await opened(browser, `#/ask${FLU}`);
  await settled(page, "ask");
  const marks = page.locator('.sources mark[role="button"]');
  await marks.first().waitFor();
  const lit = () => page.locator(".sentence.lit").evaluateAll((all) => all.map((one) => [...document.querySelectorAll(".sentence")].indexOf(one)));
  const resting = page.getByRole("region", { name: "What rests on this passage" });
  const seen = new Set();
  for (let i = 0; i < (await marks.count()); i++) {
    await marks.nth(i).hover();
    await resting.waitFor();
    await eventually(async () => {
      const found = await lit();
      assert.ok(found.length > 0);
      const said = await resting.getByRole("status").innerText();
      found.forEach((at) => assert.match(said, new RegExp(`\\b${at + 1}\\b`)));
      found.forEach((at) => seen.add(at));
    });
  }
  await marks.last().hover();
  await resting.locator(".step-text").first().waitFor();
  await shown(page, "resting");
  await page.mouse.move(5, 5);
  await resting.waitFor({ state: "detached" });
  await marks.last().focus();
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Tab");
  await resting.waitFor();
  const [first] = await lit();
  await page.keyboard.press("Enter");
  await page.waitForURL(new RegExp(`[?&]s=${first}`));
  await done();
});

const MARKDOWN = `# Kelp forests

Kelp grows **half a metre** a day in \`cold\` water. See [the survey](https://example.org/kelp) for *all* sites.

## Threats

- Urchins eat kelp where otters are gone.
- Warm water kills it.

> Quoted: <b onclick="alert(1)">kelp</b> returns when otters do.

\`\`\`
depth = 12  # metres
\`\`\`

[note]: Divers count the stalks.
[^1]: In 2019 no stalks were left.
[survey]: https://example.org/survey
`;

test("Markdown is shown as it reads: no marks, no links, and nothing that its markup could make", async () => {
  const { page, done } = await opened(browser, "#/documents?corpus=set");
  await upload(page, "kelp.md", MARKDOWN, "set");
  await page.goto(`${URL_OF}/#/ask?q=How+fast+does+kelp+grow%3F&corpus=set`);
  await settled(page, "ask");
  const text = page.locator(".document");
  await text.locator(".md-heading").first().waitFor();
  const said = await text.innerText();
  assert.doesNotMatch(said, /\*\*|##|\]\(|```|^> /m);
  await says(text, "See the survey for all sites.");
  await says(text, "In 2019 no stalks were left.");
  await says(text, "Divers count the stalks.");
  assert.doesNotMatch(said, /example\.org/);
  assert.deepEqual(await text.locator(".md-heading").allInnerTexts(), ["Kelp forests", "Threats"]);
  assert.equal(await text.locator(".md-item").count(), 2);
  await says(text.locator(".md-quote"), '<b onclick="alert(1)">kelp</b> returns');
  assert.equal(await text.locator(".md-strong").first().innerText(), "half a metre");
  await says(text.locator("p.md-code"), /depth = 12/);
  assert.equal(await text.locator("a, b, script, img").count(), 0);
  await says(page.locator(".sources"), "Kelp grows half a metre a day in cold water.");
  await page.locator(".sources mark.lit").first().waitFor();
  await shown(page, "markdown");
  await done();
});
