import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, launch, LOOKS, opened, says, shown, upload } from "./browser.mjs";

const POLICY = `# Refund policy

Customers may return a product within 30 days of delivery.
Refunds are paid to the original card by Anna Berg.
Sale items can be returned if the seal is intact.
`;
const LEAFLET = POLICY.replace("Refund policy", "Shop leaflet").replace("30 days", "14 days").replace("Anna Berg", "Carl Holm");

let browser;
before(async () => {
  browser = await launch();
  const { page, done } = await opened(browser, "#/documents?corpus=tides");
  await upload(page, "policy.md", POLICY, "shop");
  await upload(page, "leaflet.md", LEAFLET, "shop");
  await done();
});
after(() => browser.close());

const part = (page, name) => page.getByRole("region", { name, exact: true });
const run = (page) => page.getByRole("button", { name: "Run the audit" }).click();

test("the audit of a corpus shows both sides, opens the document at the place, and keeps what is settled", async () => {
  const { page, done } = await opened(browser, "#/disagreements?corpus=shop");
  await page.getByRole("button", { name: "In the whole corpus" }).click();
  await says(page.locator(".audit-top"), "2 documents, not yet compared.");
  await run(page);
  await says(page.locator(".audit-top"), "2 documents, all compared.");
  await says(part(page, "Contradictions").getByRole("heading"), "Refund policy and Shop leaflet");
  const sure = part(page, "Contradictions").locator(".finding");
  await says(sure, '"Refund policy" says 30 days, "Shop leaflet" says 14 days.');
  assert.deepEqual((await sure.locator("mark.differs").allInnerTexts()).sort(), ["14 days", "30 days"]);
  const names = await part(page, "Possible contradictions").locator("mark.differs").allInnerTexts();
  assert.deepEqual(names, ["Anna Berg", "Carl Holm"]);
  await page.getByRole("button", { name: "Show it in the document: Shop leaflet" }).first().click();
  await says(sure.locator(".opened mark.lit"), "Customers may return a product within 14 days of delivery.");
  await sure.getByRole("button", { name: "Settle…" }).click();
  await page.getByLabel("Note (optional)").fill("The leaflet is out of date.");
  await shown(page, "audit-settling");
  await page.keyboard.press("Enter");
  await eventually(async () => assert.equal(await part(page, "Contradictions").count(), 0));
  await page.reload();
  await says(part(page, "Settled").locator(".finding"), "Settled: The leaflet is out of date.");
  await page.getByRole("button", { name: "Reopen" }).click();
  await part(page, "Contradictions").waitFor();
  await done();
});

test("an audit that fails says what went wrong", async () => {
  const { page, wrong } = await opened(browser, "#/disagreements?corpus=shop&of=corpus");
  const problem = { error: { type: "StoreError", message: "The store is locked.", hint: "Wait." } };
  await page.route("**/audit", (route) => route.fulfill({ status: 503, json: problem }));
  await run(page);
  await says(page.getByRole("alert"), "The store is locked.");
  assert.equal(await page.getByRole("button", { name: "Run the audit" }).isEnabled(), true);
  assert.deepEqual(wrong.filter((text) => !text.includes("503")), []);
});

for (const look of LOOKS) {
  test(`findings are accessible and fit, ${look.theme}, ${look.width}`, async () => {
    const { page, done } = await opened(browser, "#/disagreements?corpus=shop&of=corpus", look);
    await run(page);
    await page.locator(".finding mark.differs").first().waitFor();
    await page.getByRole("button", { name: /^Show it in/ }).first().click();
    await page.locator(".opened mark.lit").waitFor();
    await shown(page, `audit-${look.theme}-${look.width}`);
    await done();
  });
}
