import { chromium } from "playwright-core";

/** What a browser measured of a page. */
export type Paint = {
  /** When the largest part of the page was drawn, in milliseconds. */
  largestMs: number;
  /** How far what was drawn moved, as a share of the window. */
  shift: number;
};

/**
 * Opens a page in Chromium, with nothing kept from before.
 *
 * @throws Error if the machine has no Chromium.
 */
export async function measurePaint(url: string): Promise<Paint> {
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(url, { waitUntil: "networkidle" });
    return await page.evaluate(
      () =>
        new Promise<Paint>((resolve) => {
          const paint = { largestMs: 0, shift: 0 };
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) paint.largestMs = entry.startTime;
          }).observe({ type: "largest-contentful-paint", buffered: true });
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) {
              paint.shift += (entry as PerformanceEntry & { value: number }).value;
            }
          }).observe({ type: "layout-shift", buffered: true });
          setTimeout(() => resolve(paint), 300);
        }),
    );
  } finally {
    await browser.close();
  }
}
