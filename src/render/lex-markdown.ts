import { Marked, type Token } from "marked";

import { BoundedLexer, BoundedTokenizer } from "./bounded-tokenizer.ts";
import { footnotes } from "./footnotes.ts";
import { isWiki } from "./links.ts";
import type { MarkupOptions } from "./markup-options.ts";
import { math } from "./math.ts";
import type { RenderBudget } from "./render-budget.ts";
import { wikiLinks } from "./wiki-links.ts";

/** The tokens of a text, and the library with the extensions that read them. */
export interface LexedMarkdown {
  readonly marked: Marked;
  readonly tokens: Token[];
}

/**
 * Parses Markdown into tokens.
 *
 * @param body The text without front matter.
 * @throws TooMuchWork if the text exceeds the budget, or a limit of `BoundedTokenizer`.
 */
export async function lexMarkdown(
  body: string,
  options: MarkupOptions,
  budget: RenderBudget,
): Promise<LexedMarkdown> {
  const marked = new Marked({ gfm: true, breaks: options.mode === "comment" });
  marked.use(math(budget), footnotes(formatSuffix(options)));
  if (isWiki(options)) marked.use(wikiLinks(options));
  const tokenizer = new BoundedTokenizer(body, budget);
  const lexer = new BoundedLexer({ ...marked.defaults, tokenizer }, budget);
  return { marked, tokens: await lexer.lexInTurns(body) };
}

function formatSuffix(options: MarkupOptions): string {
  return options.footnoteSuffix ?? (options.mode === "comment" ? "preview" : "");
}
