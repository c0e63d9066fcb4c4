import type { Token } from "marked";
import { mapTokens, textToken } from "./token-tree.ts";

/** What to make of the places in plain text where a pattern matches. */
export interface TextRule {
  /** Global, and linear in the text: it runs over everything a text holds. */
  pattern: RegExp;
  /** Whether it also applies within links, where another link may not stand. */
  isForLinks: boolean;
  /** Undefined leaves the text as it is. */
  toToken: (match: RegExpExecArray) => Token | undefined;
}

/**
 * Applies `rules` to the plain text among `tokens`, each to what the ones before it have left.
 *
 * Code, addresses of links, attributes and alternative texts are no plain text.
 */
export function applyTextRules(tokens: readonly Token[], rules: readonly TextRule[]): Token[] {
  return mapTokens(tokens, (token, scope) => {
    if (scope.isInCode || !isPlainText(token)) return [token];
    let pieces: Token[] = [token];
    for (const rule of rules) {
      if (scope.isInLink && !rule.isForLinks) continue;
      pieces = pieces.flatMap((piece) => (isPlainText(piece) ? splitText(piece, rule) : [piece]));
    }
    return pieces;
  });
}

/** A text token in a list item may be a block with tokens of its own. */
function isPlainText(token: Token): token is Token & { text: string } {
  return token.type === "text" && !("tokens" in token && token.tokens);
}

function splitText(token: Token & { text: string }, rule: TextRule): Token[] {
  const pieces: Token[] = [];
  let end = 0;
  for (const match of token.text.matchAll(rule.pattern)) {
    const replacement = rule.toToken(match);
    if (!replacement) continue;
    if (match.index > end) pieces.push(textToken(token.text.slice(end, match.index)));
    pieces.push(replacement);
    end = match.index + match[0].length;
  }
  if (end === 0) return [token];
  if (end < token.text.length) pieces.push(textToken(token.text.slice(end)));
  return pieces;
}
