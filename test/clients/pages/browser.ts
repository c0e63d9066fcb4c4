import { existsSync } from "node:fs";

import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

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
 * Opens a page that collects what its console reports: violations of the policy, and files that are
 * missing.
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
  return { page, complaints };
}

/** Texts of a page whose contrast with their background is below 4.5 to 1: WCAG 2.2, 1.4.3. */
export const findLowContrast = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const toRgb = (color: string): number[] => {
      if (!canvas) throw new Error("no canvas");
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const luminance = (rgb: number[]): number => {
      const [r = 0, g = 0, b = 0] = rgb.map((value) => {
        const part = value / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const backgroundOf = (element: Element | null): number[] => {
      if (!element) return [255, 255, 255, 255];
      const rgb = toRgb(getComputedStyle(element).backgroundColor);
      return rgb[3] === 255 ? rgb : backgroundOf(element.parentElement);
    };
    const low: string[] = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      const element = node.parentElement;
      if (!element?.checkVisibility() || !node.textContent?.trim()) continue;
      const text = luminance(toRgb(getComputedStyle(element).color));
      const ground = luminance(backgroundOf(element));
      const ratio = (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
      if (ratio < 4.5) low.push(`${node.textContent.trim()}: ${ratio.toFixed(2)}`);
    }
    return low;
  });

/** How many pixels a page is wider than its window. */
export const findOverflow = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);

/** Controls of a page that have no name for screen readers. */
export const findNameless = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll("input:not([type=hidden]), select, textarea, button, a")]
      .filter((element) => {
        const { labels } = element as HTMLInputElement;
        const texts = [...(labels ?? [])].map((label) => label.textContent);
        const name = [element.textContent, element.ariaLabel, ...texts].join("");
        return name.trim() === "";
      })
      .map((element) => element.outerHTML),
  );
