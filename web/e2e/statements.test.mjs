/** An answer over statements: its plan, its graph, its marks, and what is shown while a model works. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, FLU, launch, LOOKS, opened, says, settled, shown } from "./browser.mjs";
import { answered, CHECKED, SAYS, verbatimReply, written } from "./written.mjs";

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
  await says(page.locator(".steps li").nth(1), "opposes");
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

test("the graph has the statements by passage, their roles and relations, and a quotation opens its passage", async () => {
  const { page, done } = await opened(browser, `#/graph${FLU}`);
  await answered(page, reply);
  await settled(page, "graph");
  const names = await page.locator(".line-name").evaluateAll((all) => all.map((one) => one.ariaLabel));
  assert.deepEqual(names.sort(), ["statement 2 contradicts statement 1", "statement 3 limits statement 1"]);
  assert.equal(await page.locator(".card").count(), 3);
  const own = page.locator(".card", { hasText: SAYS[1] });
  await says(own, "opposes");
  await says(own, SAYS[3]);
  await own.getByRole("button", { name: SAYS[3] }).click();
  const why = page.locator(".why");
  await says(why, "namesake");
  await why.getByRole("button", { name: "statement 4 is about a different thing than statement 2" }).click();
  await says(why, "a botanist of the same name");
  const { text } = reply.answer.statements.statements[1].quotations[0];
  await why.getByRole("button", { name: text }).first().click();
  await eventually(async () => assert.equal((await why.locator("mark.lit").allInnerTexts()).join(""), text));
  await shown(page, "graph-statements");
  await done();
});

test("statements without relations are shown, and that they have none", async () => {
  const { page, done } = await opened(browser, `#/graph${FLU}`);
  const { statements } = reply.answer;
  await answered(page, { ...reply, answer: { ...reply.answer, statements: { ...statements, relations: [] } } });
  await page.getByRole("heading", { name: "No relations were found" }).waitFor();
  await page.getByRole("button", { name: SAYS[2] }).click();
  await says(page.locator(".why"), "In the answer: sentence 3");
  await shown(page, "graph-without-relations");
  await done();
});

test("a written answer has its numbers where they are cited, one mark a problem, what was checked, and both sides of a disagreement", async () => {
  const { page, done } = await opened(browser, `#/ask${FLU}`);
  await answered(page, reply);
  await settled(page, "ask");
  const answer = page.getByRole("region", { name: "Answer", exact: true });
  assert.deepEqual(await answer.locator(".cites").allInnerTexts(), ["3", "1 2", "4", "3"]);
  assert.deepEqual(await answer.locator(".cited-numbers").allInnerTexts(), ["1, 2", "3", "4"]);
  assert.deepEqual((await answer.locator(".flag.bad").allInnerTexts()).map((text) => text.trim()), ["check: In none of its sources: 77."]);
  await page.locator(".sentence").nth(2).click();
  assert.equal(await answer.getByText("In none of its sources").count(), 1);
  await says(answer, CHECKED);
  const [first, , third] = reply.sources;
  await answer.getByRole("button", { name: "Source 3" }).first().click();
  const lit = async (text) => eventually(async () => assert.equal((await page.locator(".sources mark.lit").allInnerTexts()).join(""), text));
  await lit(third.text);
  await page.locator('.sentence[aria-pressed="true"]', { hasText: "Vitamin D" }).waitFor();
  await answer.getByRole("button", { name: "Source 1" }).click();
  await lit(reply.sources[1].text);
  assert.ok(reply.sources[1].text.startsWith(first.text));
  const conflicts = page.getByRole("region", { name: "Where the sources disagree" });
  assert.deepEqual(await conflicts.locator("q").allInnerTexts(), [reply.sources[1].text, reply.sources[3].text]);
  await says(conflicts.locator("p").first(), "The answer follows this one.");
  await says(conflicts, "What differs: whether it prevents flu");
  await says(page.getByRole("region", { name: "Different things of the same name" }), "Not the same: a botanist of the same name");
  await shown(page, "answer-written");
  await conflicts.getByRole("button", { name: "See both in context" }).click();
  await settled(page, "disagreements");
  await says(page.locator(".side").first(), "The answer follows this one.");
  await shown(page, "disagreements-written");
  await done();
});

for (const look of LOOKS) {
  test(`a written answer is accessible and fits, ${look.theme}, ${look.width}`, async () => {
    const { page, done } = await opened(browser, `#/ask${FLU}`, look);
    await answered(page, reply);
    for (const view of ["ask", "disagreements", "graph", "plan"]) {
      await page.evaluate((hash) => (location.hash = hash), `#/${view}${FLU}`);
      await settled(page, view);
      await shown(page, `${view}-written-${look.theme}-${look.width}`);
    }
    await done();
  });
}
