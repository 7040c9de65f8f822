import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ADVICE, eventually, FLU, inspect, launch, opened, says, settled, upload } from "./browser.mjs";
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
  await page.getByText("Its step of the plan").click();
  await page.locator(".trail .step-text").waitFor();
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

test("what the documents do not answer is said in a sentence, with passages only if they are close, and what to try", async () => {
  const { page, done } = await opened(browser, "#/ask?q=Who+won+the+1998+football+world+cup%3F&corpus=tides");
  await says(page.locator(".refusal"), "The documents do not answer this.");
  const said = await page.getByRole("region", { name: "Answer" }).innerText();
  assert.match(said, /has the words? 1998\.[\s\S]*What you can try[\s\S]*Ask another corpus/);
  assert.doesNotMatch(said, /probability|%/);
  assert.equal(await page.locator(".nearest li").count(), 0);
  await page.getByLabel("Question").fill("Which season is it?");
  await page.getByRole("button", { name: /Corpus/ }).click();
  await page.getByRole("option", { name: /^vitamin-d/ }).click();
  await page.getByRole("button", { name: "Ask", exact: true }).click();
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
  const { page, done } = await opened(browser, `#/plan${ADVICE}`);
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

test("steps that change places begin as their place asks", async () => {
  const { page, done } = await opened(browser, `#/plan${ADVICE}`);
  await settled(page, "plan");
  await page.getByRole("button", { name: "Move step 2 up" }).click();
  const steps = await page.getByRole("textbox", { name: /^Step/ }).evaluateAll((all) => all.map(({ value }) => value));
  assert.match(steps[0], /^Start with /);
  steps.slice(1).forEach((step) => assert.match(step, /^(Then|Next,|After that,) /));
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

test("a file that cannot be read says why", async () => {
  const { page, done } = await opened(browser, "#/documents?corpus=uploads");
  await page.getByLabel("Add to corpus").fill("uploads");
  await page.locator("input[type=file]").setInputFiles({ name: "broken.pdf", mimeType: "text/plain", buffer: Buffer.from("%PDF-1.7 broken") });
  const job = page.locator(".job", { hasText: "broken.pdf" });
  await job.getByText("broken.pdf: could not be read").waitFor();
  await job.getByRole("button", { name: "Dismiss" }).click();
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
  assert.match(await ask("Vitamin D should not be recommended to the general public"), /The answer says it/);
  await page.reload();
  await settled(page, "trace");
  assert.match(await ask("Northern Council on Preventive Medicine"), /not among the parts|neither the plan nor the answer uses it|did not find/);
  await page.reload();
  await settled(page, "trace");
  await ask("The pooled risk ratio of the trials was 0.98");
  await says(page.locator(".lost mark.lit"), "The pooled risk ratio was 0.98, with a 95 % confidence interval");
  await page.getByLabel("Passage", { exact: true }).fill("bicycles overtake zeppelins");
  await page.getByRole("button", { name: "Find out" }).click();
  await page.getByText("No sentence of these documents says this.").waitFor();
  await done();
});

test("two ways of answering are compared, with seconds and cost", async () => {
  const { page, done } = await opened(browser, `#/compare${FLU}`);
  await page.locator(".costs").nth(1).waitFor();
  await page.getByText("Compare something else").click();
  await page.getByRole("button", { name: "Compare", exact: true }).click();
  await page.locator(".costs").nth(1).waitFor();
  await says(page.locator(".costs"), /Seconds[\s\S]*Cost/);
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
  const names = page.locator(".line-name");
  for (let at = 0; at < (await names.count()); at++) {
    await names.nth(at).focus();
    await page.keyboard.press("Enter");
    await eventually(async () => assert.equal(await page.locator(".why .quotation").count(), 2));
    for (const said of await page.locator(".why .quotation q").allInnerTexts()) assert.ok(said.length > 20, said);
  }
  const quotation = page.locator(".why .quotation").first();
  const words = await quotation.locator("q").innerText();
  await quotation.click();
  await eventually(async () => assert.equal((await page.locator(".why mark.lit").allInnerTexts()).join(""), words));
  await page.locator(".card-title").first().click();
  await says(page.locator(".why"), /Used in sentence \d/);
  await done();
});

test("answers and trees are saved as files", async () => {
  const { page, done } = await opened(browser, `#/ask${FLU}`);
  await settled(page, "ask");
  const kept = async (name) => {
    const waiting = page.waitForEvent("download");
    await page.getByRole("button", { name, exact: true }).click();
    return readFile(await (await waiting).path());
  };
  const markdown = (await kept("Markdown")).toString();
  assert.match(markdown, /^# .+\n[\s\S]*\nSources:\n\n1\. /);
  const shown = (await page.locator(".cites").allTextContents()).join(" ").split(" ").filter(Boolean);
  assert.deepEqual([...markdown.matchAll(/\*\*((?:\[\d+\])+)/g)].flatMap(([, marks]) => marks.match(/\d+/g)), shown);
  const numbers = (await page.locator(".cited-numbers").allInnerTexts()).join(", ").split(", ").sort();
  assert.deepEqual(numbers, [...new Set(shown)].sort());
  await inspect(page, "Tree");
  await settled(page, "tree");
  assert.match((await kept("Save as rs3")).toString(), /^<rst>/);
  await done();
});

test("a hostile document is text and nothing else", async () => {
  const { page, done } = await opened(browser, "#/documents?corpus=hostile");
  await upload(page, "moorings.md", HOSTILE, "hostile");
  await page.goto(page.url().replace(/#.*/, "#/ask?q=What+do+moorings+cost%3F&corpus=hostile"));
  await settled(page, "ask");
  await says(page.locator(".document"), /<script>document\.title/);
  for (const view of ["Tree", "Trace"]) {
    await inspect(page, view);
    await settled(page, view.toLowerCase());
    assert.equal(await page.locator("main script, main iframe, main img, main style").count(), 0);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
  }
  assert.doesNotMatch(await page.title(), /taken/);
  await done();
});
