import { describe, expect, it, vi } from "vitest";

import { StepBudget } from "../../src/lib/step-budget.ts";
import { renderMessage } from "../../src/render/message.ts";
import type { MarkupOptions } from "../../src/render/markup-options.ts";
import { knowAll, REPO_URL, ROOT_URL } from "./render-text.ts";

const render = (
  source: string,
  options: Partial<MarkupOptions> = {},
  steps?: StepBudget,
): Promise<string> =>
  renderMessage(
    source,
    {
      mode: "comment",
      rootUrl: ROOT_URL,
      repo: { owner: "ada", name: "engine" },
      resolve: knowAll,
      ...options,
    },
    steps,
  );

describe("the message of a commit", () => {
  it.each([
    ["#12", `<a href="${REPO_URL}/issues/12" class="ref-issue" rel="nofollow">#12</a>`],
    ["by @ada.", `by <a href="${ROOT_URL}/ada" rel="nofollow">@ada</a>.`],
    ["reverts abcdef1", `<a href="${REPO_URL}/commit/abcdef1${"0".repeat(33)}"`],
    ["(see https://a.example/x?y=1&z=2).", '(see <a href="https://a.example/x?y=1&amp;z=2"'],
    ["https://a.example/commit/abcdef1#12", ">https://a.example/commit/abcdef1#12</a>"],
    ["&#12;", "&amp;"],
  ])("has links to what it refers to: %j", async (source, html) => {
    expect(await render(source)).toContain(html);
  });

  it.each([
    "# no heading\n\n* no *list*\n    no code\n",
    "<b>no</b> &amp; <script>alert(1)</script>",
    "javascript:alert(1) \"quotes\" 'and'",
    "",
  ])("is the same text: %j", async (source) => {
    const html = await render(source);
    expect(html).not.toContain("<");
    const text = html.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"');
    expect(text.replaceAll("&#39;", "'").replaceAll("&amp;", "&")).toBe(source);
  });

  it("asks for nothing where it refers to nothing", async () => {
    const resolve = vi.fn<NonNullable<MarkupOptions["resolve"]>>(knowAll);
    await render("A change, and https://a.example/1", { resolve });
    expect(resolve).not.toHaveBeenCalled();
  });

  it("refers to the issues of a tracker", async () => {
    const tracker = {
      format: "https://t.example/{index}",
      style: "numeric",
      regexpPattern: "",
    } as const;
    expect(await render("fixes #7", { tracker })).toContain('href="https://t.example/7"');
  });

  it("has no links where it is long, or takes too much work", async () => {
    expect(await render(`#12 ${"x".repeat(70_000)}`)).not.toContain("<a");
    expect(await render("#12 ".repeat(100), {}, new StepBudget(1000))).toBe("#12 ".repeat(100));
  });
});
