import type { MarkedExtension, Token } from "marked";
import { highlightCode } from "./highlight.ts";
import { escapeHtml, formatAttributes } from "./html.ts";
import { formatMathBlock } from "./math.ts";
import { HELD_STEPS_MAX, type RenderBudget } from "./render-budget.ts";

/** Languages whose blocks a script of the page renders. Until then they are shown as loading. */
const SCRIPTED = new Set(["mermaid"]);

/**
 * Steps to highlight a block, at most, for each pair of its characters: at each word, the grammars
 * of many languages may read the rest of the block again. Measured for `java` and `$$$…`.
 */
const STEPS_PER_PAIR = 0.6;
/**
 * Steps to highlight all blocks of a document: enough for 50 blocks of 1,000 characters. One of
 * them may have 2,500.
 */
const HIGHLIGHT_STEPS_MAX = 30_000_000;

/**
 * Highlights the code fences that name a language in advance, because the renderer is synchronous.
 * Blocks that could exceed what is left of `HIGHLIGHT_STEPS_MAX` stay plain.
 *
 * @param tokens Every token of the document, in order.
 */
export async function highlightFences(
  tokens: Iterable<Token>,
  budget: RenderBudget,
): Promise<ReadonlyMap<Token, string>> {
  const highlighted = new Map<Token, string>();
  let stepsLeft = HIGHLIGHT_STEPS_MAX;
  for (const token of tokens) {
    if (token.type !== "code" || !token.lang) continue;
    const steps = STEPS_PER_PAIR * token.text.length ** 2;
    if (steps > Math.min(stepsLeft, HELD_STEPS_MAX)) continue;
    await budget.pause();
    const html = await highlightCode(token.text, readLanguage(token.lang));
    if (html === undefined) continue;
    stepsLeft -= steps;
    budget.consume(steps);
    highlighted.set(token, html);
  }
  return highlighted;
}

/**
 * Code blocks, highlighted or plain.
 *
 * The wrapper and its classes are Gitea's. The spans inside have highlight.js's classes
 * (`hljs-keyword`), not Chroma's (`k`).
 *
 * @param suggestion The block that has the class `code-suggestion`.
 */
export function codeBlocks(
  highlighted: ReadonlyMap<Token, string>,
  suggestion: Token | undefined,
): MarkedExtension {
  return {
    renderer: {
      code(token) {
        const language = readLanguage(token.lang ?? "");
        if (language === "math") return formatMathBlock(token.text);
        const code = highlighted.get(token) ?? escapeHtml(token.text);
        return formatCodeBlock(endLine(code), language, token === suggestion);
      },
    },
  };
}

/** The code of a block, of which the library drops the last line feed below a line with text. */
export const endLine = (code: string): string =>
  code.endsWith("\n") || code === "" ? code : `${code}\n`;

/** Wraps escaped or highlighted HTML in a code block. */
function formatCodeBlock(html: string, language: string, isSuggestion: boolean): string {
  const kind = isSuggestion ? " code-suggestion" : "";
  const pre = { class: SCRIPTED.has(language) ? "code-block is-loading" : "code-block" };
  const code = { class: `chroma language-${language || "text"} display` };
  return (
    `<div class="code-block-container code-overflow-scroll${kind}"><pre${formatAttributes(pre)}>` +
    `<code${formatAttributes(code)}>${html}</code></pre></div>\n`
  );
}

/** The first word of a fence's info string: `go` for `go {linenos}`, `js` for `js,ignore`. */
function readLanguage(info: string): string {
  const [language = ""] = info.trim().split(/[\s,{]/, 1);
  return /^[\w+#.-]{1,40}$/.test(language) ? language.toLowerCase() : "";
}
