import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ADVICE, eventually, FLU, launch, opened, says, settled, upload } from "./browser.mjs";
import { HOSTILE } from "./hostile.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

test("an answer is streamed, and its sentences light the characters of their sources", async () => {
  const { page, done } = await opened(browser, "#/ask?corpus=vitamin-d");
  await page.getByLabel("Question").fill("Does vitamin D prevent flu?");
  await page.keyboard.press("Enter");
  await settled(page, "ask");
  assert.ok((await page.locator('.stages li[data-state="done"]').count()) >= 6);
  const second = page.locator(".sentence").nth(1);
  await second.hover();
  const lit = page.locator(".sources mark.lit");
  await lit.first().waitFor();
  await says(lit, /vitamin D/i);
  const within = (mark) => {
    const box = mark.closest(".source-text").getBoundingClientRect();
    const own = mark.getBoundingClientRect();
    return own.top >= box.top && own.bottom <= box.bottom;
  };
  await eventually(async () => assert.ok(await lit.first().evaluate(within)));
  await eventually(async () => assert.equal(await page.locator(".trail .step-text").count(), 1));
  await page.locator(".trail .edges li").first().waitFor();
  await second.click();
  await page.waitForURL(/[?&]s=1/);
  await done();
});

test("a sentence is chosen by the keyboard, and its link shows it again", async () => {
  const { page, done } = await opened(browser, `#/ask${FLU}`);
  await settled(page, "ask");
  await page.locator(".sentence").first().focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await page.waitForURL(/[?&]s=1/);
  await page.reload();
  await settled(page, "ask");
  await page.locator(".sentence").nth(1).and(page.locator('[aria-pressed="true"]')).waitFor();
  await done();
});

test("what the documents do not answer is said, with the nearest passages", async () => {
  const { page, done } = await opened(browser, "#/ask?q=Who+won+the+1998+football+world+cup%3F&corpus=tides");
  await page.getByText("The documents do not answer this.").waitFor();
  await page.locator(".nearest li").first().waitFor();
  await page.locator(".sources mark.lit").first().waitFor();
  await done();
});

test("disagreements stand side by side, with what differs marked", async () => {
  const { page, done } = await opened(browser, `#/disagreements${FLU}`);
  await settled(page, "disagreements");
  const pair = page.locator(".pair").first();
  await eventually(async () => assert.equal(await pair.locator(".side").count(), 2));
  await says(pair.locator(".relation"), /contradicts|contrasts with/);
  await pair.getByRole("button", { name: /sentence/ }).first().click();
  await settled(page, "ask");
  await eventually(async () => assert.equal(await page.locator('.sentence[aria-pressed="true"]').count(), 1));
  await done();
});

test("an edited plan changes the answer, and both stand side by side", async () => {
  const { page, done } = await opened(browser, `#/plan${FLU}`);
  await settled(page, "plan");
  const steps = await page.locator(".steps li").count();
  assert.ok(steps > 1);
  await page.getByRole("button", { name: "Remove step 1" }).click();
  assert.equal(await page.locator(".steps li").count(), steps - 1);
  await page.getByRole("button", { name: "Write from this plan" }).click();
  await page.getByRole("region", { name: "From your plan" }).locator(".prose").waitFor();
  const [before, now] = await page.locator(".answer-column .prose").allInnerTexts();
  assert.notEqual(before, now);
  assert.ok((await page.locator(".only").count()) > 0);
  await done();
});

test("documents are uploaded and deleted", async () => {
  const { page, done } = await opened(browser, "#/documents?corpus=uploads");
  await upload(page, "lighthouse.md", "# Lighthouse\n\nThe lamp turns once in ten seconds. It was lit in 1871.\n", "uploads");
  await page.getByRole("button", { name: "Delete lighthouse.md" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("This corpus is empty").waitFor();
  await done();
});

test("a file that cannot be read says why, and can be tried again", async () => {
  const { page, done } = await opened(browser, "#/documents?corpus=uploads");
  await page.getByLabel("Into corpus").fill("uploads");
  await page.locator("input[type=file]").setInputFiles({ name: "broken.json", mimeType: "text/plain", buffer: Buffer.from("{") });
  const job = page.locator(".job", { hasText: "broken.json" });
  await job.getByText("broken.json: failed").waitFor({ timeout: 60_000 });
  await job.getByRole("button", { name: "Retry" }).click();
  await job.getByRole("button", { name: "Dismiss" }).click({ timeout: 60_000 });
  await job.waitFor({ state: "detached" });
  await done();
});

test("files are dropped, and an upload is cancelled", async () => {
  const { page, wrong } = await opened(browser, "#/documents?corpus=uploads");
  let release = () => undefined;
  const held = new Promise((resolve) => (release = resolve));
  await page.route("**/ingest", async (route) => {
    await held;
    await route.abort().catch(() => undefined);
  });
  const folder = await mkdtemp(join(tmpdir(), "drop-"));
  await writeFile(join(folder, "buoy.md"), "# Buoy\n\nIt is red.\n");
  const { x, y } = await page.locator(".drop").boundingBox();
  const data = { items: [], files: [join(folder, "buoy.md")], dragOperationsMask: 1 };
  const devtools = await page.context().newCDPSession(page);
  for (const type of ["dragEnter", "dragOver", "drop"]) {
    await devtools.send("Input.dispatchDragEvent", { type, x: x + 30, y: y + 20, data });
  }
  const job = page.locator(".job", { hasText: "buoy.md" });
  await job.getByRole("button", { name: "Cancel" }).click();
  await job.getByText("The upload was cancelled.").waitFor();
  await job.getByRole("button", { name: "Dismiss" }).click();
  await job.waitFor({ state: "detached" });
  release();
  await rm(folder, { recursive: true });
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("it says where a passage was lost", async () => {
  const { page, done } = await opened(browser, `#/trace${ADVICE}`);
  await settled(page, "trace");
  const ask = async (passage) => {
    await page.getByLabel("Passage", { exact: true }).fill(passage);
    await page.getByRole("button", { name: "Find out" }).click();
    const said = page.locator(".fate");
    await said.waitFor();
    return said.innerText();
  };
  assert.match(await ask("Vitamin D should not be recommended to the general public"), /The answer tells it/);
  await page.reload();
  await settled(page, "trace");
  assert.match(await ask("Northern Council on Preventive Medicine"), /not among the parts|did not tell it|did not find it/);
  await page.reload();
  await settled(page, "trace");
  await page.getByLabel("Passage", { exact: true }).fill("words that no document has");
  await page.getByRole("button", { name: "Find out" }).click();
  await page.getByText("This document does not have these words.").waitFor();
  await done();
});

test("two ways of answering are compared, with seconds and tokens", async () => {
  const { page, done } = await opened(browser, `#/compare${FLU}`);
  await settled(page, "compare");
  await page.getByRole("button", { name: "Compare" }).click();
  await page.locator(".costs").nth(1).waitFor();
  await says(page.locator(".costs"), /Seconds[\s\S]*Tokens/);
  await done();
});

test("a tree closes and opens, also by the keyboard", async () => {
  const { page, done } = await opened(browser, "#/tree?corpus=tides");
  await settled(page, "tree");
  const before = await page.locator(".rst-text").count();
  await page.locator(".rst-toggle").first().focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.locator(".rst-text").count(), 1);
  await page.keyboard.press("Enter");
  assert.equal(await page.locator(".rst-text").count(), before);
  await done();
});

test("why a relation is in the graph is shown", async () => {
  const { page, done } = await opened(browser, `#/graph${FLU}`);
  await settled(page, "graph");
  const all = await page.locator(".line").count();
  await page.locator(".react-flow__node").first().focus();
  await page.keyboard.press("Enter");
  await page.locator(".why").getByRole("button", { name: /contradicts|contrasts/ }).first().click();
  assert.equal(await page.locator(".why mark.lit").count(), 2);
  await page.locator(".check", { hasText: "contrasts" }).click();
  assert.ok((await page.locator(".line").count()) < all);
  await done();
});

test("answers, graphs and trees are kept as files", async () => {
  const { page, done } = await opened(browser, `#/ask${FLU}`);
  await settled(page, "ask");
  const kept = async (name) => {
    const waiting = page.waitForEvent("download");
    await page.getByRole("button", { name, exact: true }).click();
    return readFile(await (await waiting).path());
  };
  const markdown = (await kept("Markdown")).toString();
  assert.match(markdown, /\[\^1\]: /);
  const shown = (await page.locator(".cites").allTextContents()).join(" ").split(" ").filter(Boolean);
  assert.deepEqual([...markdown.matchAll(/\[\^(\d+)\](?!:)/g)].map(([, number]) => number), shown);
  assert.equal(await page.locator(".cited li").count(), new Set(shown).size);
  assert.match((await kept("HTML")).toString(), /<!doctype html>[\s\S]*id="s1"/);
  for (const view of ["Graph", "Tree"]) {
    await page.getByRole("link", { name: view }).click();
    await settled(page, view.toLowerCase());
    assert.match((await kept("SVG")).toString(), /^<svg/);
    assert.equal((await kept("PNG")).subarray(1, 4).toString(), "PNG");
  }
  await done();
});

test("a hostile document is text and nothing else", async () => {
  const { page, done } = await opened(browser, "#/documents?corpus=hostile");
  await upload(page, "moorings.md", HOSTILE, "hostile");
  await page.goto(page.url().replace(/#.*/, "#/ask?q=What+do+moorings+cost%3F&corpus=hostile"));
  await settled(page, "ask");
  await says(page.locator(".document"), /<script>document\.title/);
  for (const view of ["graph", "tree", "trace"]) {
    await page.getByRole("link", { name: new RegExp(`^${view}$`, "i") }).click();
    await settled(page, view);
    assert.equal(await page.locator("main script, main iframe, main img, main style").count(), 0);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
  }
  await page.getByRole("link", { name: "Tree", exact: true }).click();
  await page.getByRole("button", { name: "Whole document" }).click();
  await page.locator(".told-text").first().waitFor();
  assert.equal(await page.locator("main script, main iframe, main img, main style").count(), 0);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
  assert.doesNotMatch(await page.title(), /taken/);
  await done();
});
