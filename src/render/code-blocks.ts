import type { MarkedExtension, Token } from "marked";
import { highlightCode } from "./highlight.ts";
import { escapeHtml, formatAttributes } from "./html.ts";
import { formatMathBlock } from "./math.ts";

/** Languages whose blocks a script of the page renders. Until then they are shown as loading. */
const SCRIPTED = new Set(["mermaid"]);

/** Maximum number of characters highlighted per document; blocks beyond it stay plain. */
const HIGHLIGHTED_MAX = 128 * 1024;

/**
 * Highlights the code fences that name a language in advance, because the renderer is synchronous.
 *
 * @param tokens Every token of the document, in order.
 */
export async function highlightFences(
  tokens: Iterable<Token>,
): Promise<ReadonlyMap<Token, string>> {
  const highlighted = new Map<Token, string>();
  let budget = HIGHLIGHTED_MAX;
  for (const token of tokens) {
    if (token.type !== "code" || !token.lang || token.text.length > budget) continue;
    const html = await highlightCode(token.text, readLanguage(token.lang));
    if (html === undefined) continue;
    budget -= token.text.length;
    highlighted.set(token, html);
  }
  return highlighted;
}

/**
 * Code blocks, highlighted or plain.
 *
 * The wrapper and its classes are Gitea's. The spans inside have highlight.js's classes (`hljs-keyword`), not
 * Chroma's (`k`).
 */
export function codeBlocks(highlighted: ReadonlyMap<Token, string>): MarkedExtension {
  return {
    renderer: {
      code(token) {
        const language = readLanguage(token.lang ?? "");
        if (language === "math") return formatMathBlock(token.text);
        const code = highlighted.get(token) ?? escapeHtml(token.text);
        return formatCodeBlock(code.endsWith("\n") || code === "" ? code : `${code}\n`, language);
      },
    },
  };
}

/** Wraps escaped or highlighted HTML in a code block. */
function formatCodeBlock(html: string, language: string): string {
  const pre = { class: SCRIPTED.has(language) ? "code-block is-loading" : "code-block" };
  const code = { class: `chroma language-${language || "text"} display` };
  return (
    `<div class="code-block-container code-overflow-scroll"><pre${formatAttributes(pre)}>` +
    `<code${formatAttributes(code)}>${html}</code></pre></div>\n`
  );
}

/** The first word of a fence's info string: `go` for `go {linenos}`, `js` for `js,ignore`. */
function readLanguage(info: string): string {
  const [language = ""] = info.trim().split(/[\s,{]/, 1);
  return /^[\w+#.-]{1,40}$/.test(language) ? language.toLowerCase() : "";
}
