import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ADVICE, eventually, FLU, inspect, launch, LOOKS, opened, says, settled, shown } from "./browser.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

test("an answer from a changed plan stays when another view was shown", async () => {
  const { page, done } = await opened(browser, `#/plan${ADVICE}`);
  await settled(page, "plan");
  const planned = await page.locator(".steps li").count();
  await page.getByRole("button", { name: "Remove step 1" }).click();
  await page.getByRole("button", { name: "Write from this plan" }).click();
  const answer = page.getByRole("region", { name: "From your plan" }).locator(".prose");
  const first = await answer.innerText();
  await inspect(page, "Trace");
  await inspect(page, "Plan");
  assert.equal(await answer.innerText(), first);
  assert.equal(await page.locator(".steps li").count(), planned - 1);
  await page.getByRole("button", { name: "Original plan" }).click();
  await eventually(async () => assert.equal(await page.locator(".steps li").count(), planned));
  await done();
});

test("both sides of a comparison are in its link", async () => {
  const { page, done } = await opened(browser, `#/compare${FLU}`);
  await settled(page, "compare");
  await page.getByText("Compare something else").click();
  const side = (name) => page.getByRole("group", { name });
  await side("Left").locator(".check", { hasText: "Plan" }).click();
  await side("Right").getByRole("button", { name: /Retriever/ }).click();
  await page.getByRole("option", { name: "hybrid" }).click();
  await side("Right").locator(".check", { hasText: "Trees" }).click();
  await page.reload();
  const on = (name) => side(name).getByRole("checkbox").evaluateAll((all) => all.map((box) => box.checked));
  await eventually(async () => assert.deepEqual(await on("Left"), [true, true, false]));
  await eventually(async () => assert.deepEqual(await on("Right"), [true, false, false]));
  await says(side("Right"), /hybrid/);
  await page.getByRole("button", { name: "Compare" }).click();
  await page.locator(".costs").nth(1).waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);
  await side("Left").locator(".check", { hasText: "Graph" }).click();
  await eventually(async () => assert.equal(await page.locator(".costs").count(), 0));
  await done();
});

test("a hint says what to do in the page", async () => {
  const { page, done } = await opened(browser, "#/ask?q=Why%3F&corpus=no-such-corpus");
  const said = await page.getByRole("alert").innerText();
  assert.match(said, /Choose another corpus next to the question/);
  assert.doesNotMatch(said, /--corpus|disco-rag |DISCO_RAG_/);
  await done();
});

test("on a phone the trace shows every stage whole", async () => {
  const { page, done } = await opened(browser, `#/trace${FLU}`, { width: 390 });
  await settled(page, "trace");
  const cut = await page.locator(".ledger th, .ledger td, .ledger p").evaluateAll((all) =>
    all.filter((one) => one.getBoundingClientRect().width > 1 && (one.scrollWidth > one.clientWidth + 1 || one.getBoundingClientRect().right > window.innerWidth)).map((one) => one.innerText),
  );
  assert.deepEqual(cut, []);
  assert.equal(await page.getByRole("row").count(), (await page.locator(".ledger tbody tr").count()) + 1);
  await shown(page, "trace-whole-390");
  await done();
});

for (const look of LOOKS) {
  test(`two plans are accessible and fit, ${look.theme}, ${look.width}`, async () => {
    const { page, done } = await opened(browser, `#/plan${ADVICE}`, look);
    await settled(page, "plan");
    await page.getByRole("button", { name: "Remove step 1" }).click();
    await page.getByRole("button", { name: "Write from this plan" }).click();
    await page.getByRole("region", { name: "From your plan" }).locator(".prose").scrollIntoViewIfNeeded();
    await shown(page, `plans-${look.theme}-${look.width}`);
    await done();
  });
}
