import { describe, expect, it } from "vitest";

import { StepBudget } from "../../src/lib/step-budget.ts";
import { readSuggestion } from "../../src/render/suggestion.ts";
import { renderComment } from "./render-text.ts";

const BLOCK = "```suggestion\na\n```";

/** The text of the block that the page shows as a suggestion. */
const shown = async (body: string): Promise<string | undefined> =>
  /<div class="[^"]* code-suggestion"><pre[^>]*><code[^>]*>([^]*?)<\/code>/.exec(
    await renderComment(body),
  )?.[1];

describe("readSuggestion", () => {
  it.each([
    ["a block", "Try:\n```suggestion\na\n b\n```\nand more", "a\n b\n"],
    ["an empty block", "```suggestion\n```", ""],
    ["a blank line", "```suggestion\n\n```", "\n"],
    ["a line of spaces and a blank one", "```suggestion\n  \n\n```\n", "  \n\n"],
    ["tabs, and spaces at the end", "```suggestion\n\ta \t\n```", "\ta \t\n"],
    ["a block with a longer fence", "````suggestion\n```\n````", "```\n"],
    ["a block with tildes", "~~~suggestion\n```\n~~~", "```\n"],
    ["a block without an end", "```suggestion\na", "a\n"],
    ["an indented block", "  ```suggestion\n    a\n  b\n  ```", "  a\nb\n"],
    ["carriage returns", "```suggestion\r\na\r\n```\r\n", "a\n"],
    ["the first of two", `${BLOCK}\n\`\`\`suggestion\nb\n\`\`\``, "a\n"],
    ["that after one in a quote", `> \`\`\`suggestion\n> b\n\n${BLOCK}`, "a\n"],
    ["that after one in a comment", `<!--\n\`\`\`suggestion\nb\n\`\`\`\n-->\n\n${BLOCK}`, "a\n"],
    ["that below closed HTML", `<details>\n\nb <br> <b>c\n\n</details>\n\n${BLOCK}`, "a\n"],
  ])("reads what is shown: %s", async (_, body, text) => {
    expect(await readSuggestion(body)).toBe(text);
    expect(await shown(body)).toBe(text);
  });

  it.each([
    ["no block", "suggestion"],
    ["another language", "```ts\nsuggestion\n```"],
    ["more than the word", "```suggestion now\na\n```"],
    ["another case", "```Suggestion\na\n```"],
    ["an HTML comment", `<!--\n${BLOCK}\n-->\ntext`],
    ["a block of tildes", `~~~\n${BLOCK}\n~~~`],
    ["a quote", BLOCK.replaceAll(/^/gm, "> ")],
    ["a list", BLOCK.replaceAll(/^/gm, "  ").replace(" ", "-")],
    ["a footnote", `[^1]: x\n\n${BLOCK.replaceAll(/^/gm, "    ")}`],
    ["math", `$$\n${BLOCK}\n$$`],
    ["an indented block", BLOCK.replaceAll(/^/gm, "    ")],
    ["folded HTML", `<details>\n\n${BLOCK}\n\n</details>`],
    ["HTML folded within a text", `text <details>\n\n${BLOCK}`],
    ["HTML that another end does not close", `<details></b>\n\n${BLOCK}`],
    ["HTML that is removed", `<style>\n\n</p>\n\n${BLOCK}\n\n</style>`],
    ["HTML like it", '<pre><code class="chroma language-suggestion display">a</code></pre>'],
    ["HTML with the class", '<div class="code-suggestion"><pre><code>a</code></pre></div>'],
  ])("reads nothing in %s", async (_, body) => {
    expect(await readSuggestion(body)).toBeUndefined();
    expect(await shown(body)).toBeUndefined();
  });

  it("reads nothing that takes too much work to render", async () => {
    expect(await readSuggestion(BLOCK, new StepBudget(1))).toBeUndefined();
  });
});
