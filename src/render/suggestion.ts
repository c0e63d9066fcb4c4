import { type Token, type Tokens, walkTokens } from "marked";

import type { StepBudget } from "../lib/step-budget.ts";
import { VOID_ELEMENTS } from "./allowed-html.ts";
import { endLine } from "./code-blocks.ts";
import { lexMarkdown } from "./lex-markdown.ts";
import { rawHtmlCleaner } from "./raw-html.ts";
import { RenderBudget, TooMuchWork } from "./render-budget.ts";
import { isRawTag } from "./token-tree.ts";

/**
 * The text that a comment suggests in place of its lines: that of its first fenced block with the
 * word `suggestion`.
 *
 * SECURITY: reads the text as it is rendered, so that what is applied is what readers see: a block
 * in an HTML comment, in another block or in HTML that may be folded suggests nothing.
 *
 * This module and its imports are large, so import it dynamically.
 *
 * @param steps Bounds the work, as in `renderMarkup`.
 * @returns Lines with a line feed each, "" to remove the lines; undefined for a comment that
 *   suggests nothing, and for one that takes too much work.
 */
export async function readSuggestion(
  body: string,
  steps?: StepBudget,
): Promise<string | undefined> {
  const options = { mode: "comment", rootUrl: "" } as const;
  try {
    const { tokens } = await lexMarkdown(body, options, new RenderBudget(steps));
    const found = findSuggestion(rawHtmlCleaner(options)(tokens));
    return found && endLine(found.text);
  } catch (error) {
    if (error instanceof TooMuchWork) return undefined;
    throw error;
  }
}

/**
 * The first suggestion among the outermost tokens of a text whose raw HTML is cleaned. Where an
 * element is open it is none.
 */
export function findSuggestion(tokens: readonly Token[]): Tokens.Code | undefined {
  const open: string[] = [];
  for (const token of tokens) {
    if (open.length === 0 && isSuggestion(token)) return token;
    void walkTokens([token], (each) => {
      if (!isRawTag(each) || VOID_ELEMENTS.has(each.element)) return;
      if (!each.isClosing) open.push(each.element);
      // As the sanitizer does, an end closes what is open within.
      else if (open.includes(each.element)) open.length = open.lastIndexOf(each.element);
    });
  }
  return undefined;
}

const isSuggestion = (token: Token): token is Tokens.Code =>
  token.type === "code" && token["codeBlockStyle"] !== "indented" && token["lang"] === "suggestion";
