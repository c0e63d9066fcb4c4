import type { MarkedExtension } from "marked";
import { escapeHtml } from "./html.ts";
import type { RenderBudget } from "./render-budget.ts";

/** Maximum length of a formula within a line. */
const INLINE_MAX = 2000;
/** Steps to read a character of what may be a formula. */
const STEPS_PER_CHAR = 0.6;
/** Number of characters in which the next dollar is searched, for each piece of text. */
const AHEAD_MAX = 1000;
/** What may not come before a formula, nor follow it, so that prices are none. */
const BEFORE = /[A-Za-z\d.!?,;:]$/;
const AFTER = /^(?:[.!?,;:)$\s]|$)/;
const BLOCK = /^ {0,3}\$\$[ \t]*\n?((?:[^$\n]|\$(?!\$)|\n(?![ \t]*\n)){1,20000})\$\$[ \t]*(?:\n|$)/;

/**
 * Formulas, rendered as code for a script of the page: `$x$`, `$$x$$`, `` $`x`$ ``, and the block
 * `$$…$$`. Fences with language `math` are in code-blocks.ts. Brackets after a backslash are
 * brackets.
 */
export const math = (budget: RenderBudget): MarkedExtension => ({
  extensions: [
    {
      name: "mathBlock",
      level: "block",
      tokenizer(source) {
        const [raw, formula] = BLOCK.exec(source) ?? [];
        return raw && formula ? { type: "mathBlock", raw, formula } : undefined;
      },
      renderer: (token) => formatMathBlock(token["formula"]),
    },
    {
      name: "mathInline",
      level: "inline",
      start(source) {
        const index = source.slice(0, AHEAD_MAX).indexOf("$");
        return index === -1 ? undefined : index;
      },
      tokenizer(source, tokens) {
        const found = readInline(source, tokens.at(-1)?.raw ?? "", budget);
        return found && { type: "mathInline", ...found };
      },
      renderer: (token) => `<code class="language-math">${escapeHtml(token["formula"])}</code>`,
    },
  ],
});

export function formatMathBlock(formula: string): string {
  const text = escapeHtml(formula.trim());
  return `<pre class="code-block is-loading"><code class="language-math display">${text}</code></pre>\n`;
}

/** Reads a formula at the start of a text. @param before The text before it in its paragraph. */
function readInline(
  source: string,
  before: string,
  budget: RenderBudget,
): { raw: string; formula: string } | undefined {
  const [start] = /^\$(?:\$|`{1,9}(?!`))?/.exec(source) ?? [];
  if (start === undefined) return undefined;
  const isCode = start.includes("`");
  if (!isCode && BEFORE.test(before)) return undefined;
  const mark = isCode ? `${start.slice(1)}$` : start;
  const end = findEnd(source, start.length, mark, budget);
  if (end === undefined) return undefined;
  const after = end + mark.length;
  const formula = source.slice(start.length, end).replace(/^ (.*) $/, "$1");
  if (formula.trim() === "") return undefined;
  if (!isCode && !AFTER.test(source.slice(after, after + 1))) return undefined;
  return { raw: source.slice(0, after), formula };
}

/** Finds the first mark that is in no braces, in the same line. */
function findEnd(
  source: string,
  start: number,
  mark: string,
  budget: RenderBudget,
): number | undefined {
  let depth = 0;
  let at = start;
  for (const limit = Math.min(source.length, start + INLINE_MAX); at < limit; at++) {
    if (depth === 0 && source.startsWith(mark, at)) break;
    const character = source[at];
    if (character === "\n") break;
    if (character === "\\") at += 1;
    else if (character === "{") depth += 1;
    else if (character === "}") depth -= 1;
  }
  budget.consume(STEPS_PER_CHAR * (at - start));
  return source.startsWith(mark, at) ? at : undefined;
}
