import type { HLJSApi } from "highlight.js";

let loaded: HLJSApi | undefined;

/**
 * Renders code as HTML with highlight.js's classes.
 *
 * The highlighter is loaded on first use, since most texts contain no code.
 *
 * Cost: up to the square of the length, because grammars backtrack. The caller must limit the
 * length.
 *
 * @returns Undefined if the language is unknown.
 */
export async function highlightCode(code: string, language: string): Promise<string | undefined> {
  if (language === "" || language === "text") return undefined;
  const highlighter = await getHighlighter();
  if (!highlighter.getLanguage(language)) return undefined;
  return highlighter.highlight(code, { language, ignoreIllegals: true }).value;
}

/** The highlighter, which is loaded on first use. */
export async function getHighlighter(): Promise<HLJSApi> {
  // Caches the module and not its promise, because a request may not await a promise of another
  // request.
  loaded ??= await loadHighlighter();
  return loaded;
}

async function loadHighlighter(): Promise<HLJSApi> {
  const { default: highlighter } = await import("highlight.js/lib/common");
  // Languages used in repositories beyond the common set, at about 1 KB each.
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
