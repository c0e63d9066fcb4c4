import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";

import type axeCore from "axe-core";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

/** What the evaluated script defines. */
declare const axe: typeof axeCore;

/** Debian's and Ubuntu's names for the browser; `.ci/install-clients` installs the first. */
const PATHS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Undefined where the machine has no browser. */
export const browserPath = PATHS.find((path) => existsSync(path));

export const launch = (): Promise<Browser> =>
  chromium.launch({
    ...(browserPath !== undefined && { executablePath: browserPath }),
    // CI runs as root, for whom Chromium's own sandbox does not start.
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });

/**
 * Opens a page that collects complaints: violations of the policy and missing files, which its
 * console reports, errors of its scripts, and what it loads from other hosts.
 */
export async function openTab(
  context: BrowserContext,
): Promise<{ page: Page; complaints: string[] }> {
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    const { url } = message.location();
    // The browser asks for an icon on its own, and reports refused forms, which are pages too.
    const isExpected = url.endsWith("/favicon.ico") || /status of 4\d\d/.test(message.text());
    if (message.type() === "error" && !isExpected) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    if (request.isNavigationRequest()) return;
    const { origin } = new URL(request.frame().url());
    if (new URL(request.url()).origin !== origin) complaints.push(`loads ${request.url()}`);
  });
  return { page, complaints };
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** WCAG 2.2 AA, whose newest rules axe leaves out by default, and what is common practice. */
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** What a page's readers with disabilities meet, by the rules of axe or by some of them. */
export async function findBarriers(page: Page, rules = RULES): Promise<string[]> {
  // Not as a script of the page, whose policy allows none.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  const { violations } = await page.evaluate(
    (runOnly) => axe.run({ runOnly, resultTypes: ["violations"] }),
    rules,
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

/** How many pixels a page is wider than its window. */
export const findOverflow = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
