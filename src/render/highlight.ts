import type { HLJSApi } from "highlight.js";

/** Longer code stays plain: grammars backtrack, and nobody reads that much in a text. */
const CODE_MAX = 32 * 1024;

let loaded: HLJSApi | undefined;

/**
 * Code as HTML with highlight.js's classes, or undefined when the language isn't known or the code
 * is longer than 32 K characters.
 *
 * The highlighter is loaded on first use: most texts hold no code.
 */
export async function highlightCode(code: string, language: string): Promise<string | undefined> {
  if (language === "" || language === "text" || code.length > CODE_MAX) return undefined;
  // What is loaded is kept, not the promise of it: what one request waits for, no other may.
  const highlighter = loaded ?? (await loadHighlighter());
  loaded = highlighter;
  if (!highlighter.getLanguage(language)) return undefined;
  return highlighter.highlight(code, { language, ignoreIllegals: true }).value;
}

async function loadHighlighter(): Promise<HLJSApi> {
  const { default: highlighter } = await import("highlight.js/lib/common");
  // What repositories hold besides the common set, at about 1 KB each.
  const [dart, dockerfile, elixir, haskell, http, nginx, powershell, properties, protobuf, scala] =
    await Promise.all([
      import("highlight.js/lib/languages/dart"),
      import("highlight.js/lib/languages/dockerfile"),
      import("highlight.js/lib/languages/elixir"),
      import("highlight.js/lib/languages/haskell"),
      import("highlight.js/lib/languages/http"),
      import("highlight.js/lib/languages/nginx"),
      import("highlight.js/lib/languages/powershell"),
      import("highlight.js/lib/languages/properties"),
      import("highlight.js/lib/languages/protobuf"),
      import("highlight.js/lib/languages/scala"),
    ]);
  const more = {
    dart,
    dockerfile,
    elixir,
    haskell,
    http,
    nginx,
    powershell,
    properties,
    protobuf,
    scala,
  };
  for (const [name, language] of Object.entries(more)) {
    highlighter.registerLanguage(name, language.default);
  }
  return highlighter;
}
