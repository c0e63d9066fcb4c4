import { describe, expect, it } from "vitest";
import { sampleOf } from "../support/sample.ts";
import { knowAll, render } from "./render-text.ts";

const LENGTH = 100_000;
/** A hundred times the slowest text on an idle machine; without limits, some take hours. */
const TIMEOUT_MS = 120_000;

const fill = (pattern: string): string => pattern.repeat(Math.ceil(LENGTH / pattern.length));
const number = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join("\n");

/**
 * Texts that may take a Markdown parser, the rewriting of its tokens or the sanitizer more than
 * linear time.
 */
const TEXTS: Readonly<Record<string, string>> = {
  "open brackets": fill("["),
  "brackets in pairs": `${"[".repeat(LENGTH / 2)}${"]".repeat(LENGTH / 2)}`,
  "nested links": `${"[".repeat(LENGTH / 4)}${"](a)".repeat(LENGTH / 8)}`,
  "open links": fill("[a]("),
  "open images": fill("!["),
  asterisks: fill("*"),
  "open emphasis": fill("*a "),
  "mixed emphasis": fill("*a_ b**c "),
  "nested emphasis": `${"*a **b ".repeat(LENGTH / 14)}${"c** d*".repeat(LENGTH / 12)}`,
  "underscores in a word": fill("a_b"),
  tildes: fill("~~a ~b "),
  "growing backticks": number(400, (index) => `${"`".repeat(index + 1)}a`),
  "open code": fill("`a "),
  "angle brackets": fill("<"),
  "open tags": fill("<a "),
  "open attributes": fill('<a href="'),
  "open comments": fill("<!--"),
  "many tags": fill("<b>x"),
  "unmatched tags": `${"<i>".repeat(9000)}${"</b>".repeat(9000)}`,
  "many attributes": `<a ${number(20_000, (index) => `a${index}`)}>`,
  pipes: fill("|"),
  "a long table": `|a|b|\n|-|-|\n${fill("|x|y|\n")}`,
  "a wide table of short rows": `${"a|".repeat(1000)}\n${"-|".repeat(1000)}\n${fill("x\n")}`,
  "tables with a wrong header": fill("a|b\n-|-|-\n"),
  "deep quotes": fill(">"),
  "deepening quotes": number(400, (index) => `${">".repeat(index)} a`),
  "lazy quotes": fill("> a\nb\n"),
  "lazy lists in quotes": fill("> - a\nb\n"),
  "nested lazy quotes": fill(`${">".repeat(20)} a\nb\n`),
  "deep lists on a line": fill("- "),
  "deepening lists": number(400, (index) => `${"  ".repeat(index)}- a`),
  "a long list": fill("- a\n"),
  "a lazy list item": `- a\n${fill("b\n")}`,
  tasks: fill("- [ ] a\n"),
  "tasks that the lexer changes": fill("- [ ] \ta\tb\n"),
  exclamations: fill("!"),
  backslashes: fill("\\"),
  "underlined headings": fill("a\n-\n"),
  "equal headings": fill("# a\n"),
  definitions: number(8000, (index) => `[a${index}]: b`),
  footnotes: `${number(5000, (index) => `[^${index}]: a`)}\n\n${number(5000, (i) => `[^${i}]`)}`,
  "nested footnotes": fill("[^a]: "),
  "uses of one footnote": `[^a]: b\n\n${fill("[^a] ")}`,
  mentions: number(12_000, (index) => `@u${index}`),
  issues: number(12_000, (index) => `#${index}`),
  commits: fill("abcdef12 "),
  paths: fill("a/"),
  "incomplete e-mail addresses": fill("a@"),
  dollars: fill("$a "),
  "open formulas": fill("\\["),
  emoji: fill(":gem:"),
  "code blocks": fill("```js\nvar a = 1;\n```\n"),
  "a long code block": `\`\`\`js\n${fill("/* a ")}\n\`\`\``,
  "broken front matter": `---\n${fill("a: [")}\n---\n`,
  "aliases of aliases": `---\na: &a [x,x,x,x]\n${number(30, (i) => `b${i}: &b${i} [*a,*a]`)}\n---\n`,
};

describe("a text that is slow to render", () => {
  it.each(sampleOf(Object.entries(TEXTS), 14, "texts that are slow to render"))(
    "is rendered, if only as plain text, in bounded time: %s",
    async (_, text) => {
      const outcome = await render(text, { resolve: knowAll }).then(
        (html) => (html.length < 60 * LENGTH ? "rendered" : "too much HTML"),
        (error: unknown) => error,
      );
      expect(outcome).toBe("rendered");
    },
    TIMEOUT_MS,
  );

  it("is refused past 512 Ki characters", async () => {
    await expect(render("a".repeat(512 * 1024 + 1))).rejects.toMatchObject({ kind: "too_large" });
  });

  it("is rendered as source text where it is nested too deeply", async () => {
    const html = await render(`${"> ".repeat(100)}deep`);
    expect(html).toContain("deep");
    expect(html.match(/<blockquote>/g)?.length).toBe(24);
  });
});
