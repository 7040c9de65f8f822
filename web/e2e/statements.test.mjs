/** An answer over statements: its plan, its graph, its marks, and what is shown while a model works. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, FLU, launch, opened, says, settled, shown } from "./browser.mjs";
import { answered, SAYS, verbatimReply, written } from "./written.mjs";

let browser;
let reply;
before(async () => {
  browser = await launch();
  reply = written(await verbatimReply());
});
after(() => browser.close());

test("a plan over statements is dragged, edited, cut and written again, in the form that the server reads", async () => {
  const { page, done } = await opened(browser, `#/plan${FLU}`);
  const asked = await answered(page, reply);
  await settled(page, "plan");
  const steps = page.getByRole("textbox", { name: /^Step/ });
  const texts = () => steps.evaluateAll((all) => all.map(({ value }) => value));
  await eventually(async () => assert.deepEqual(await texts(), SAYS.slice(0, 3)));
  await says(page.locator(".steps li").nth(1), "says otherwise");
  await shown(page, "plan-statements");
  await page.locator(".grip").nth(2).dragTo(page.locator(".steps li").first());
  await eventually(async () => assert.deepEqual(await texts(), [SAYS[2], SAYS[0], SAYS[1]]));
  await steps.first().fill("Say first who is helped");
  await page.getByRole("button", { name: "Remove step 3" }).click();
  await page.getByRole("button", { name: "Write from this plan" }).click();
  const columns = page.locator(".answer-column");
  await eventually(async () => assert.equal(await columns.count(), 2));
  assert.equal(asked.at(-1).switches.plan, `1. restricts: Say first who is helped {3}\n2. answers: ${SAYS[0]} {1}`);
  await page.getByRole("button", { name: "Original plan" }).click();
  assert.deepEqual(await texts(), SAYS.slice(0, 3));
  await done();
});
