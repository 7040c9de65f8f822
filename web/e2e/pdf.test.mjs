import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, launch, LOOKS, opened, says, settled, shown, upload } from "./browser.mjs";
import { pdf } from "./pdf.mjs";

const BUOYS = pdf(
  ["Buoys of the north channel", "", "This page says what the marks are for.", "Pilots read it first."],
  ["The red buoy was anchored off Skarholm in 1931, and its lamp is light-", "ed at dusk by a keeper from the village.", "", "The green buoy drifted away in the storm of 1954."],
);
const ASKED = "#/ask?q=When+was+the+red+buoy+anchored%3F&corpus=buoys";

let browser;
before(async () => {
  browser = await launch();
  const { page, done } = await opened(browser, "#/documents?corpus=tides");
  await upload(page, "buoys.pdf", BUOYS, "buoys");
  await done();
});
after(() => browser.close());

const lit = (page) => page.locator(".pdf-text mark.lit");

for (const look of LOOKS) {
  test(`a sentence opens the page of the PDF that it comes from, its characters lit, ${look.theme}, ${look.width}`, async () => {
    const { page, done } = await opened(browser, ASKED, look);
    await settled(page, "ask");
    await page.locator(".sentence", { hasText: "red buoy" }).first().click();
    await lit(page).first().waitFor();
    await says(page.locator(".pdf-bar"), "Page 2 of 2");
    await eventually(async () => assert.match((await lit(page).allInnerTexts()).join(""), /^The red buoy was anchored off Skarholm in 1931/));
    const box = await lit(page).first().boundingBox();
    assert.ok(box.width > 50 && box.y > 0 && box.y < 844, JSON.stringify(box));
    await shown(page, `pdf-${look.theme}-${look.width}`);
    await page.getByRole("button", { name: "Previous page" }).click();
    await says(page.locator(".pdf-text"), "Pilots read it first.");
    await page.getByRole("button", { name: "Text as it was read" }).click();
    await says(page.locator(".source-text mark.lit"), "red buoy");
    await done();
  });
}

test("where the file is gone the text is shown, with the reason", async () => {
  const { page, wrong } = await opened(browser, "#/ask?corpus=buoys");
  const error = { type: "NotFoundError", message: "buoys.pdf has changed since it was read.", hint: "" };
  await page.route("**/file?*", (route) => route.fulfill({ status: 404, json: { error } }));
  await page.getByLabel("Question").fill("When was the red buoy anchored?");
  await page.keyboard.press("Enter");
  await settled(page, "ask");
  await says(page.locator(".source"), "buoys.pdf has changed since it was read. This is the text as it was read.");
  await says(page.locator(".source-text mark.lit"), "red buoy");
  assert.deepEqual(wrong.filter((text) => !text.includes("404")), []);
  await page.context().close();
});
