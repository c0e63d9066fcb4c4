import { Marked, Parser, type Token } from "marked";

import type { StepBudget } from "../lib/step-budget.ts";
import { escapeHtml } from "./html.ts";
import { chooseTextRules } from "./markdown.ts";
import type { MarkupOptions } from "./markup-options.ts";
import { knownReferences } from "./reference-tokens.ts";
import { NOTHING_KNOWN, ReferenceList } from "./references.ts";
import { RenderBudget, TooMuchWork } from "./render-budget.ts";
import { sanitize } from "./sanitize.ts";
import { type TextRule, textRules } from "./text-rules.ts";
import { generated, textToken } from "./token-tree.ts";

/** Longer messages have no links, in characters. */
const LENGTH_MAX = 64 * 1024;

/** URLs in escaped text: the last character is no punctuation of the sentence. */
const urls: TextRule = {
  pattern: /\bhttps?:\/\/[^\s<>"]*[^\s<>".,;:!?)\]'*]/g,
  isForLinks: false,
  toToken: ([url]) => generated(`<a href="${url}">${url}</a>`),
};

/**
 * Renders the message of a commit as sanitized HTML: its text as it is, for a `pre` element, with
 * links for URLs and for what it refers to.
 *
 * @param options With the tracker that replaces the issues of the repository, if it has one.
 */
export async function renderMessage(
  source: string,
  options: MarkupOptions,
  steps?: StepBudget,
): Promise<string> {
  if (source.length > LENGTH_MAX) return escapeHtml(source);
  const budget = new RenderBudget(steps);
  try {
    const found = new ReferenceList();
    // An id in a URL is no reference.
    const rules = [urls, ...(await chooseTextRules(found, options))];
    // Character references in a token are kept, and a message has none.
    const text: Token = textToken(source.replaceAll("&", "&amp;"));
    const tokens = textRules(rules, budget)([text]);
    budget.countTokens(tokens);
    const known = found.isEmpty ? undefined : await options.resolve?.(found.found());
    const marked = new Marked().use(knownReferences(known ?? NOTHING_KNOWN));
    return await sanitize([new Parser(marked.defaults).parseInline(tokens)], budget);
  } catch (error) {
    if (!(error instanceof TooMuchWork)) throw error;
    return escapeHtml(source);
  }
}
