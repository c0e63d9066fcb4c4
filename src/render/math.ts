import type { MarkedExtension } from "marked";
import { escapeHtml } from "./html.ts";

// A single dollar opens and closes only next to something, and closes only before a non-word, so
// that prices stay prices. Every form ends within its paragraph.
const INLINE = [
  /^\$`([^`\n]{1,2000})`\$(?!\w)/,
  /^\$\$([^$\n]{1,2000})\$\$(?!\w)/,
  /^\$(?![\s$`])((?:[^$\\\n]|\\.){0,1999}(?:[^$\\\s]|\\[^\s]))\$(?![\w$])/,
  /^\\\(((?:[^\\\n]|\\[^)\n]){1,2000})\\\)/,
];
/** How far ahead of plain text a dollar is looked for, once for each piece of text. */
const AHEAD_MAX = 1000;
const BLOCK = [
  /^ {0,3}\$\$[ \t]*\n?((?:[^$\n]|\$(?!\$)|\n(?![ \t]*\n)){1,20000})\$\$[ \t]*(?:\n|$)/,
  /^ {0,3}\\\[[ \t]*\n?((?:[^\\\n]|\\(?!\])|\n(?![ \t]*\n)){1,20000})\\\][ \t]*(?:\n|$)/,
];

/**
 * Formulas, as code for the page to draw: `$x$`, `` $`x`$ ``, `\(x\)`, and the blocks `$$…$$` and `\[…\]`.
 * Fences named `math` are in code-blocks.ts.
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
