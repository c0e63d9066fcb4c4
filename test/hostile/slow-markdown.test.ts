import { describe, expect, it } from "vitest";

import { renderMarkup } from "../../src/render/markup.ts";
import { SLICE_STEPS } from "../../src/lib/time-slice.ts";
import { RENDER_STEPS_MAX } from "../../src/render/render-budget.ts";
import { call } from "../support/call.ts";
import { make } from "../support/make.ts";
import { sampleOf } from "../support/sample.ts";
import { expectPauses } from "../support/slices.ts";
import { logged } from "../support/usage.ts";

/** 50 ms: the library can't pause within a block. */
const HELD_STEPS = 5 * SLICE_STEPS;
/** The limit of a text that is rendered. */
const LENGTH = 512 * 1024;
const fill = (pattern: string, length = LENGTH): string =>
  pattern.repeat(Math.floor(length / pattern.length));

const render = (text: string): Promise<string> =>
  renderMarkup(text, { mode: "gfm", rootUrl: "https://forge.example" });

async function renderText(text: string) {
  const user = await make.user();
  const json = { Text: text, Mode: "gfm" };
  const { answer, line } = await logged(() => call("POST", "/markdown", { as: user, json }));
  expect(answer.status).toBe(200);
  return { html: String(answer.body), steps: line.steps };
}

describe("Markdown at its size limit", () => {
  const TEXTS: [string, string, string][] = [
    [
      "links, for each of which the library reads the rest of the paragraph",
      fill("[a](b)"),
      "it takes",
    ],
    ["images", fill("![](a)"), "it takes"],
    ["escapes", fill("\\["), "it takes"],
    ["emphasis that is never closed", fill("a_b"), "it takes"],
    ["items of a list", fill("- a\n"), "it takes"],
    ["cells of a table", `|a|b|\n|-|-|\n${fill("|x|y|\n", LENGTH - 20)}`, "it takes"],
    [
      "uses of a long address",
      `[a]: ${"b".repeat(2000)}\n\n${fill("[a]", LENGTH - 3000)}`,
      "it takes",
    ],
    ["uses of a footnote", `[^a]: b\n\n${fill("[^a] ", LENGTH - 20)}`, "it takes"],
    [
      "notes, which become long HTML",
      fill("> [!NOTE]\n> a\n\n", 200_000),
      "its HTML would be too long",
    ],
    ["tags in one paragraph", fill("<b>x", 100_000), "it takes too much work to render one"],
    ["tags", fill("<b>x\n\n", 140_000), "it has more than 20000 HTML tags"],
  ];
  it.each(sampleOf(TEXTS, 4, "texts at the limit"))(
    "is shown as plain text if it consists of %s",
    async (_, text, why) => {
      const { html, steps } = await renderText(text);
      expect(html.slice(0, 200)).toMatch(
        new RegExp(`^<p><em>Shown as plain text, since ${why}.*</em></p>\n<pre`),
      );
      expect(html.length).toBeLessThan(6 * LENGTH);
      // Work that is counted before it is done may exceed the budget; it is not done then.
      expect(steps).toBeGreaterThan(0);
      expect(steps).toBeLessThan(2.5 * RENDER_STEPS_MAX);
    },
  );

  it("is rendered if it consists of dollars, between which no formula ends", async () => {
    const { html, steps } = await renderText(fill("{$ ", 300_000));
    expect(html).toMatch(/^<p>\{<code class="language-math">/);
    expect(steps).toBeLessThan(RENDER_STEPS_MAX);
  });

  // What the library reads again and again took 3.5 and 1.9 s of processor time at the limit while
  // it was not counted.
  it.each([
    ["brackets, after each of which it reads a thousand escapes", fill("\\[", 100_000)],
    ["characters that could be an e-mail address", fill("a_b", 150_000)],
  ])("is shown as plain text far below the limit if it consists of %s", async (_, text) => {
    const { html } = await renderText(text);
    expect(html.slice(0, 200)).toMatch(/^<p><em>Shown as plain text, since it takes/);
  });

  const ITEM = "- The *quick* fox `jumps` over [the](dog).\n  - It is **very** nice\n";

  it.each([
    ["paragraphs", fill("# A\n\nSome <b>text</b> of *people*.\n\n", 100_000), "h1"],
    ["items of a list", fill(ITEM, 60_000), "ul"],
    ["rows of a table", `|a|b|\n|-|-|\n${fill("|*x*|y|\n", 40_000)}`, "table"],
  ])("is rendered from %s without holding the thread", async (_, text, element) => {
    const html = await expectPauses(2, () => render(text), HELD_STEPS);
    expect(html.slice(0, 10)).toMatch(new RegExp(`^<${element}\\b`));
  });

  it.each([
    ["list", fill(ITEM)],
    ["paragraph", fill("a *b* `c`\n")],
    ["table", `|a|\n|-|\n${fill("|x|\n", 400_000)}`],
  ])("is shown as plain text if a %s would hold the thread", async (_, text) => {
    const html = await expectPauses(1, () => render(text), HELD_STEPS);
    expect(html.slice(0, 200)).toMatch(/^<p><em>Shown as plain text, since it takes/);
  });

  it("is rendered from values of a table without holding the thread", async () => {
    const options = { mode: "file", filePath: "a.csv", rootUrl: "https://forge.example" } as const;
    const csv = fill("a,b,c,d\n", 90_000);
    const html = await expectPauses(10, () => renderMarkup(csv, options));
    expect(html.slice(0, 40)).toContain('<table class="data-table">');
    const refused = await expectPauses(2, () => renderMarkup(fill("a,b,c,d\n"), options));
    expect(refused).toContain("since it has more than 50000 cells");
  });

  it("is rendered if people wrote it", async () => {
    const sentence = "The *quick* fox `jumps` over [the](dog). It is **very** nice to see.\n\n";
    const { html, steps } = await renderText(fill(sentence));
    expect(html.slice(0, 40)).toBe("<p>The <em>quick</em> fox <code>jumps</c");
    expect(html.length).toBeLessThan(4 * LENGTH);
    expect(steps).toBeLessThan(RENDER_STEPS_MAX);
  });

  // At each word, the highlighter may read the rest of the block again: seconds for 32,000
  // characters.
  it("highlights only blocks of code of which all together take bounded work", async () => {
    const block = (length: number) => `\`\`\`java\n${"$".repeat(length)}\n\`\`\`\n\n`;
    const { html, steps } = await renderText(
      `${fill(block(30_000))}\`\`\`js\nvar a = 1;\n\`\`\`\n`,
    );
    expect(html).toContain('<span class="hljs-keyword">var</span>');
    expect(steps).toBeLessThan(RENDER_STEPS_MAX / 2);
    const many = await renderText(fill(block(3000), 200_000));
    expect(many.steps).toBeLessThan(RENDER_STEPS_MAX / 2);
  });
});
