import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { FLU, launch, LOOKS, opened, says, settled, shown, VIEWS, violations } from "./browser.mjs";

const SHOTS = process.env.SHOTS;

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

for (const look of LOOKS) {
  test(`every view is accessible and fits, ${look.theme}, ${look.width}`, async () => {
    const { page, done } = await opened(browser, `#/ask${FLU}`, look);
    for (const view of VIEWS) {
      await page.evaluate((hash) => (location.hash = hash), `#/${view}${FLU}`);
      await settled(page, view);
      await shown(page, `${view}-${look.theme}-${look.width}`);
    }
    await done();
  });

  test(`empty states, refusals and errors, ${look.theme}, ${look.width}`, async () => {
    const start = await opened(browser, "", look);
    await start.page.locator(".start").waitFor();
    await shown(start.page, `start-${look.theme}-${look.width}`);
    await start.done();

    const refusal = await opened(browser, "#/ask?q=Which+season+is+it%3F&corpus=vitamin-d", look);
    await refusal.page.locator(".nearest li").first().waitFor();
    await shown(refusal.page, `refusal-${look.theme}-${look.width}`);
    await refusal.done();

    const failed = await opened(browser, "#/ask?q=Why%3F&corpus=no-such-corpus", look);
    await failed.page.getByRole("alert").waitFor();
    await shown(failed.page, `error-${look.theme}-${look.width}`);
    await failed.done();
  });
}

test("a server with keys asks for one", async () => {
  const { page, wrong } = await opened(browser, "");
  const body = JSON.stringify({ error: { type: "NoKeyError", message: "No key.", hint: "Send one." } });
  await page.route("**/session", (route) => {
    const known = route.request().headers().authorization === "Bearer reader";
    const session = JSON.stringify({ tenant: "t", roles: ["read"], keys: true, examples: {} });
    return route.fulfill({ status: known ? 200 : 401, contentType: "application/json", body: known ? session : body });
  });
  await page.goto(page.url().replace(/#.*/, ""));
  await page.reload();
  await page.getByLabel("API key").fill("reader");
  assert.deepEqual(await violations(page), []);
  if (SHOTS) await page.screenshot({ path: join(SHOTS, "sign-in.png") });
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Documents" }).click();
  await page.locator(".documents tbody tr").first().waitFor();
  assert.equal(await page.getByRole("button", { name: /Delete|Choose files/ }).count(), 0);
  assert.deepEqual(wrong.filter((text) => !text.includes("401")), []);
  await page.context().close();
});

const RELATIONS = ["SUPPORTS", "CONTRADICTS", "ELABORATES", "BACKGROUND_FOR"];

function large(passages) {
  const chunks = Array.from({ length: passages }, (_, i) => `chunk-${i}`);
  const edges = chunks.slice(1).flatMap((source, i) =>
    [1, 7].map((back) => ({ source, target: chunks[Math.max(0, i + 1 - back)], relation: RELATIONS[(i + back) % 4] })),
  );
  const known = new Set();
  const single = edges.filter((e) => e.source !== e.target && !known.has(e.source + e.target) && known.add(e.source + e.target));
  const sentence = { text: "Many passages.", support: "quoted", evidence: [], step: null, statements: [], reason: "", confidence: null };
  const answer = { query: "Many?", sentences: [sentence], disagreements: [], namesakes: [], statements: null, plan: null, notes: [], checked: "", abstained: "", answerable: null, nearest: [] };
  return {
    answer,
    sources: [],
    citations: [[]],
    marks: [[]],
    hits: chunks.map((chunk_id) => ({ chunk_id, score: 1 })),
    evidence: {},
    graph: { chunks, edges: single.map((e) => ({ ...e, source_span: { start: 0, end: 5 }, target_span: { start: 0, end: 5 }, reason: "" })) },
    draft: "",
    ledger: { stages: [] },
    seconds: 1,
    text: "Many passages.",
  };
}

/** Answers with a result that no server made, and knows none of its passages. */
async function stub(page, result) {
  const data = `event: answer\ndata: ${JSON.stringify(result)}\n\n`;
  await page.route("**/ask", (route) => route.fulfill({ contentType: "text/event-stream", body: data }));
  await page.route("**/chunks?*", (route) => route.fulfill({ json: [] }));
}

test("a sentence to check, what was checked at all, and what a language model did not do, are said", async () => {
  const { page, done } = await opened(browser, "#/ask?corpus=vitamin-d");
  const result = large(2);
  const reason = "In none of its sources: the number 7.";
  Object.assign(result.answer.sentences[0], { support: "check", reason });
  result.answer.checked = "Figures were checked; the meaning was not judged.";
  result.answer.notes = ["The language model did not make the plan: no reply. Used instead: the rules' plan."];
  await stub(page, result);
  await page.getByLabel("Question").fill("Many?");
  await page.keyboard.press("Enter");
  await page.locator(".sentence.problem").waitFor();
  await page.getByText("check: In none of its sources: the number 7.").waitFor();
  await page.getByText("the meaning was not judged").waitFor();
  await page.getByText("The language model did not make the plan").waitFor();
  await shown(page, "check");
  await done();
});

test("of a thousand passages at most twelve are cards, and no arrow or name runs behind one", async () => {
  const { page, done } = await opened(browser, `#/graph${FLU}`);
  await settled(page, "graph");
  await stub(page, large(1000));
  await page.getByLabel("Question").fill("Many?");
  await page.keyboard.press("Enter");
  await says(page.locator(".graph-top"), "between 12 passages; 988 other passages have none");
  assert.equal(await page.locator(".card").count(), 12);
  const hidden = await page.evaluate(() => {
    const cards = [...document.querySelectorAll(".card")].map((card) => card.getBoundingClientRect());
    const inside = ({ x, y }, by) => cards.some((box) => x > box.left + by && x < box.right - by && y > box.top + by && y < box.bottom - by);
    const names = [...document.querySelectorAll(".line-name")].map((name) => name.getBoundingClientRect());
    const points = [...document.querySelectorAll(".line path[fill]")].flatMap((path) => {
      const { left, top } = path.ownerSVGElement.getBoundingClientRect();
      const length = path.getTotalLength();
      return Array.from({ length: 20 }, (_, i) => path.getPointAtLength((length * i) / 19)).map(({ x, y }) => ({ x: x + left, y: y + top }));
    });
    const middles = names.map((box) => ({ x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 }));
    return { points: points.length, behind: points.filter((point) => inside(point, 2)).length, names: middles.filter((point) => inside(point, 0)).length };
  });
  assert.ok(hidden.points > 0);
  assert.deepEqual([hidden.behind, hidden.names], [0, 0]);
  const sizes = await page.locator(".card-title, .card-text, .line-name").evaluateAll((all) => all.map((one) => parseFloat(getComputedStyle(one).fontSize)));
  assert.ok(Math.min(...sizes) >= 12, String(Math.min(...sizes)));
  await shown(page, "graph-1000");
  await done();
});
