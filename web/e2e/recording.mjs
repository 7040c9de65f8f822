/** Pictures of a visit, one file for each moment: `RECORDING` names the folder. `python -m tests.web.recording` joins them. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ADVICE, inspect, launch, opened, settled, URL_OF } from "./browser.mjs";

const folder = process.env.RECORDING;
mkdirSync(folder, { recursive: true });
const browser = await launch();
const { page } = await opened(browser, "#/ask?corpus=vitamin-d", { width: 1100 });
let count = 0;
const shot = async (times = 1) => {
  for (let i = 0; i < times; i++) await page.screenshot({ path: join(folder, `${String(count++).padStart(3, "0")}.png`) });
};

for (const part of ["Does vitamin D", " prevent flu?"]) {
  await page.getByLabel("Question").pressSequentially(part);
  await shot();
}
await page.keyboard.press("Enter");
await page.locator(".sentence").nth(2).waitFor();
await shot(2);
for (const at of [1, 2]) {
  await page.locator(".sentence").nth(at).click();
  await page.waitForTimeout(400);
  await shot(3);
}
await page.getByRole("button", { name: "Compare with plain RAG" }).click();
await page.locator(".costs").nth(1).waitFor();
await shot(3);
await page.getByRole("link", { name: "Disagreements", exact: true }).click();
await settled(page, "disagreements");
await shot(3);
for (const name of ["Graph", "Tree"]) {
  await inspect(page, name);
  await settled(page, name.toLowerCase());
  await page.waitForTimeout(400);
  await shot(3);
}
await page.goto(`${URL_OF}/#/plan${ADVICE}`);
await settled(page, "plan");
await shot(2);
await page.getByRole("button", { name: "Remove step 1" }).click();
await shot();
await page.getByRole("button", { name: "Write from this plan" }).click();
const written = page.getByRole("region", { name: "From your plan" });
await written.locator(".prose").waitFor();
await written.scrollIntoViewIfNeeded();
await shot(4);
await browser.close();
