import { describe, expect, it } from "vitest";

import { StepBudget } from "../../src/lib/step-budget.ts";
import type { MarkupOptions } from "../../src/render/markup-options.ts";
import { NOTHING_KNOWN } from "../../src/render/references.ts";
import { RENDER_STEPS_MAX } from "../../src/render/render-budget.ts";
import { renderKept } from "../../src/render/render-kept.ts";
import { knowAll, ROOT_URL } from "./render-text.ts";

const COMMENT: MarkupOptions = {
  mode: "comment",
  rootUrl: ROOT_URL,
  repo: { owner: "ada", name: "engine" },
  resolve: async () => NOTHING_KNOWN,
};

/** Renders a text, and counts the steps that this takes. */
async function render(source: string, options: Partial<MarkupOptions> = {}) {
  let steps = 0;
  const budget = new StepBudget(RENDER_STEPS_MAX, { onSteps: (more) => void (steps += more) });
  return { html: await renderKept(source, { ...COMMENT, ...options }, budget), steps };
}

describe("a text that was rendered before", () => {
  it("takes no steps", async () => {
    const first = await render("a *text*");
    expect(first.steps).toBeGreaterThan(0);
    expect(await render("a *text*")).toEqual({ html: first.html, steps: 0 });
  });

  it("is rendered again where its links lead elsewhere", async () => {
    const text = "![picture](picture.png)";
    const [here, there] = [
      await render(text),
      await render(text, { repo: { owner: "ada", name: "other" } }),
    ];
    expect(here.html).toContain("/ada/engine/");
    expect(there.html).toContain("/ada/other/");
  });

  it("shows each reader what they may see of its references", async () => {
    const text = "See #12, #13, @bob and a1b2c3d4e5 of @team/owners.";
    const seeing = await render(text, { resolve: knowAll });
    const blind = await render(text);
    expect(seeing.html).toContain('href="https://forge.example/ada/engine/issues/12"');
    expect(blind.html).not.toContain("<a ");
    expect((await render(text, { resolve: knowAll })).html).toBe(seeing.html);
    expect((await render(text)).html).toBe(blind.html);
  });

  it("follows the tracker of its repository", async () => {
    const text = "See #14.";
    const own = await render(text, { resolve: knowAll });
    const tracker = { format: "https://bugs.example/{index}", style: "numeric", regexpPattern: "" };
    const elsewhere = await render(text, {
      resolve: async (found) => ({ ...(await knowAll(found)), tracker }) as never,
    });
    expect(own.html).toContain("/ada/engine/issues/14");
    expect(elsewhere.html).toContain("https://bugs.example/14");
    expect((await render(text, { resolve: knowAll })).html).toBe(own.html);
  });

  it("is rendered whole after it was too much work beside others", async () => {
    const text = "a *long* text";
    const used = new StepBudget(1);
    expect(await renderKept(text, COMMENT, used)).toContain("Shown as plain text");
    expect((await render(text)).html).toContain("<em>long</em>");
  });

  it("ends with those whose last reader was long ago", async () => {
    const first = "the *first* text";
    await render(first);
    const long = "word ".repeat(20_000);
    for (let at = 0; at < 30; at += 1) await render(`${at} ${long}`);
    expect((await render(`29 ${long}`)).steps).toBe(0);
    expect((await render(first)).steps).toBeGreaterThan(0);
  });
});
