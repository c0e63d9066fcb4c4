import type { Token } from "marked";
import type { RenderBudget } from "./render-budget.ts";
import { textToken, tokenMapper } from "./token-tree.ts";

/** Steps to make, render and sanitize a replacement. */
const STEPS_PER_REPLACEMENT = 900;

/** A match in a text: the whole, its groups, and where it begins. */
export interface TextMatch extends ReadonlyArray<string | undefined> {
  readonly 0: string;
  readonly index: number;
}

/** A pattern of other than the platform's syntax. */
export interface TextPattern {
  /** @param consume Counts steps before they are taken. */
  readonly matchAll: (text: string, consume: (steps: number) => void) => Iterable<TextMatch>;
}

/** Replaces the matches of a pattern in plain text. */
export interface TextRule {
  /**
   * Has the global flag, and runs in linear time, because it is applied to all text of a document.
   */
  pattern: RegExp | TextPattern;
  /** Whether the rule also applies inside links, where it must not create links. */
  isForLinks: boolean;
  /** Returns the replacement, or undefined to keep the text. */
  toToken: (match: TextMatch) => Token | undefined;
}

/**
 * Makes a function that applies `rules` to the plain text in tokens, each to the text that the
 * earlier rules did not replace.
 *
 * Code, link targets, attributes and alternative texts are not plain text.
 */
export function textRules(
  rules: readonly TextRule[],
  budget: RenderBudget,
): (tokens: readonly Token[]) => Token[] {
  return tokenMapper((token, scope) => {
    if (scope.isInCode || !isPlainText(token)) return [token];
    let pieces: Token[] = [token];
    for (const rule of rules) {
      if (scope.isInLink && !rule.isForLinks) continue;
      pieces = pieces.flatMap((piece) =>
        isPlainText(piece) ? splitText(piece, rule, budget) : [piece],
      );
    }
    return pieces;
  });
}

/** A text token in a list item may be a block with child tokens, and is then not plain text. */
function isPlainText(token: Token): token is Token & { text: string } {
  return token.type === "text" && !("tokens" in token && token.tokens);
}

function splitText(token: Token & { text: string }, rule: TextRule, budget: RenderBudget): Token[] {
  const pieces: Token[] = [];
  let end = 0;
  for (const match of matchesOf(token.text, rule.pattern, budget)) {
    const [whole] = match;
    const replacement = whole === "" ? undefined : rule.toToken(match);
    if (!replacement) continue;
    budget.consume(STEPS_PER_REPLACEMENT);
    if (match.index > end) pieces.push(textToken(token.text.slice(end, match.index)));
    pieces.push(replacement);
    end = match.index + whole.length;
  }
  if (end === 0) return [token];
  if (end < token.text.length) pieces.push(textToken(token.text.slice(end)));
  return pieces;
}

function matchesOf(
  text: string,
  pattern: TextRule["pattern"],
  budget: RenderBudget,
): Iterable<TextMatch> {
  if (pattern instanceof RegExp) return text.matchAll(pattern);
  return pattern.matchAll(text, (steps) => budget.consume(steps));
}
