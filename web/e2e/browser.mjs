import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import axe from "axe-core";
import { chromium } from "playwright-core";

export const URL_OF = (process.env.DISCO_RAG_URL ?? "http://127.0.0.1:8080").replace(/\/$/, "");
export const FLU = "?q=Does+vitamin+D+prevent+flu%3F&corpus=vitamin-d";
export const ADVICE = "?q=Does+vitamin+D+prevent+influenza%2C+and+who+should+take+it%3F&corpus=vitamin-d";
export const VIEWS = ["ask", "disagreements", "compare", "documents", "graph", "plan", "tree", "trace"];

/** How long a test waits for a page, in ms: a busy machine must not fail it. */
const PATIENCE = 120_000;

export const launch = () =>
  chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });

/** A page that notes what it must not do: errors, violations of the policy, requests that leave the host. */
export async function opened(browser, hash, { width = 1280, theme = "light", init = () => {} } = {}) {
  const context = await browser.newContext({
    viewport: { width, height: width < 500 ? 844 : 800 },
    colorScheme: theme,
    reducedMotion: "reduce",
    acceptDownloads: true,
  });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("dialog", (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${URL_OF}/`) && !url.startsWith("blob:") && !url.startsWith("data:")) wrong.push(`left: ${url}`);
  });
  await page.addInitScript(init);
  await page.goto(`${URL_OF}/${hash}`);
  const done = async () => {
    await context.close();
    assert.deepEqual(wrong, []);
  };
  return { page, done, wrong };
}

/** Goes to one of the views for looking into an answer. */
export async function inspect(page, name) {
  await page.getByRole("link", { name: "Inspect", exact: true }).click();
  await page.getByRole("navigation", { name: "Inspect" }).getByRole("link", { name, exact: true }).click();
}

/** Waits until a view shows what it is for. */
export async function settled(page, view) {
  const shown = {
    ask: ".sentence",
    disagreements: ".pair mark.lit",
    graph: ".card",
    plan: ".steps li",
    tree: ".rst-toggle",
    trace: ".ledger tbody tr",
    compare: ".costs",
    documents: ".documents tbody tr",
  };
  await page.locator(shown[view]).first().waitFor();
  await page.waitForLoadState("networkidle");
}

/** Holds what is asserted as soon as the page comes to it: a page catches up with what is done in it. */
export async function eventually(check) {
  for (const end = Date.now() + PATIENCE; ; ) {
    try {
      return await check();
    } catch (error) {
      if (!(error instanceof assert.AssertionError) || Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Holds that a text is shown. */
export const says = (locator, words) => locator.filter({ hasText: words }).first().waitFor();

export async function violations(page) {
  await page.evaluate(axe.source);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(" ")).join(", ")}`);
}

const SHOTS = process.env.SHOTS;

/** Holds what every view has to: accessible, no wider than the window; and its picture, if pictures are kept. */
export async function shown(page, name) {
  assert.deepEqual(await violations(page), []);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), `${name} is too wide`);
  if (!SHOTS) return;
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: join(SHOTS, `${name}.png`) });
}

export const LOOKS = ["light", "dark"].flatMap((theme) => [1280, 390].map((width) => ({ theme, width })));

export async function upload(page, name, text, corpus) {
  if (corpus) await page.getByLabel("Add to corpus").fill(corpus);
  await page.locator("input[type=file]").setInputFiles({ name, mimeType: "text/markdown", buffer: Buffer.from(text) });
  const job = page.locator(".job", { hasText: name });
  await job.getByText("Done, 1 of 1").waitFor();
}
