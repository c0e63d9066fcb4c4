import type { MarkedExtension } from "marked";
import { escapeHtml } from "./html.ts";

// A single dollar opens and closes a formula only next to a character that is not a space, and
// closes it only before a non-word character, so that prices are not formulas. Every form ends
// within its paragraph.
const INLINE = [
  /^\$`([^`\n]{1,2000})`\$(?!\w)/,
  /^\$\$([^$\n]{1,2000})\$\$(?!\w)/,
  /^\$(?![\s$`])((?:[^$\\\n]|\\.){0,1999}(?:[^$\\\s]|\\[^\s]))\$(?![\w$])/,
  /^\\\(((?:[^\\\n]|\\[^)\n]){1,2000})\\\)/,
];
/** Number of characters in which the next dollar is searched, for each piece of text. */
const AHEAD_MAX = 1000;
const BLOCK = [
  /^ {0,3}\$\$[ \t]*\n?((?:[^$\n]|\$(?!\$)|\n(?![ \t]*\n)){1,20000})\$\$[ \t]*(?:\n|$)/,
  /^ {0,3}\\\[[ \t]*\n?((?:[^\\\n]|\\(?!\])|\n(?![ \t]*\n)){1,20000})\\\][ \t]*(?:\n|$)/,
];

/**
 * Formulas, rendered as code for a script of the page: `$x$`, `` $`x`$ ``, `\(x\)`, and the blocks
 * `$$…$$` and `\[…\]`. Fences with language `math` are in code-blocks.ts.
 */
export const math: MarkedExtension = {
  extensions: [
    {
      name: "mathBlock",
      level: "block",
      tokenizer(source) {
        const [raw, formula] = firstMatch(BLOCK, source) ?? [];
        return raw && formula ? { type: "mathBlock", raw, formula } : undefined;
      },
      renderer: (token) => formatMathBlock(token["formula"]),
    },
    {
      name: "mathInline",
      level: "inline",
      start(source) {
        const index = source.slice(0, AHEAD_MAX).search(/(?<!\w)\$/);
        return index === -1 ? undefined : index;
      },
      tokenizer(source) {
        const [raw, formula] = firstMatch(INLINE, source) ?? [];
        return raw && formula ? { type: "mathInline", raw, formula } : undefined;
      },
      renderer: (token) => `<code class="language-math">${escapeHtml(token["formula"])}</code>`,
    },
  ],
};

export function formatMathBlock(formula: string): string {
  const text = escapeHtml(formula.trim());
  return `<pre class="code-block is-loading"><code class="language-math display">${text}</code></pre>\n`;
}

function firstMatch(patterns: readonly RegExp[], source: string): RegExpExecArray | undefined {
  for (const pattern of patterns) {
    const match = pattern.exec(source);
    if (match) return match;
  }
  return undefined;
}
