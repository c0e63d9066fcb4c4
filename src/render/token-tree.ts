import type { Token } from "marked";

/** A tag from the text's own HTML, cleaned by raw-html.ts. */
export interface RawTag {
  type: "html";
  raw: string;
  /** The whole tag. */
  text: string;
  element: string;
  isClosing: boolean;
}

/** What a token stands in, through Markdown or through tags of the text's own. */
export interface TokenContext {
  isInLink: boolean;
  isInCode: boolean;
}

const CODE_ELEMENTS: ReadonlySet<string> = new Set(["code", "pre", "kbd", "samp", "tt", "var"]);

/** HTML of our own making, as a token. */
export function generated(html: string): Token {
  return { type: "html", raw: "", text: html, block: false, pre: false };
}

/** Plain text, as a token. A character reference in it stays one. */
export function textToken(text: string): Token {
  return { type: "text", raw: text, text, escaped: false };
}

/**
 * The tokens with each replaced by what `map` makes of it, children first.
 *
 * Lists of children are replaced in their parents; the tokens themselves are not copied.
 */
export function mapTokens(
  tokens: readonly Token[],
  map: (token: Token, scope: TokenContext) => readonly Token[],
  scope: TokenContext = { isInLink: false, isInCode: false },
): Token[] {
  const mapped: Token[] = [];
  // An element that the text forgets to close ends with the list that opened it.
  let links = 0;
  let codes = 0;
  for (const token of tokens) {
    if (isRawTag(token)) {
      const step = token.isClosing ? -1 : 1;
      if (token.element === "a") links = Math.max(0, links + step);
      if (CODE_ELEMENTS.has(token.element)) codes = Math.max(0, codes + step);
    }
    const here = { isInLink: scope.isInLink || links > 0, isInCode: scope.isInCode || codes > 0 };
    const below = { ...here, isInLink: here.isInLink || token.type === "link" };
    mapChildren(token, (children) => mapTokens(children, map, below));
    for (const replacement of map(token, here)) mapped.push(replacement);
  }
  return mapped;
}

/** Replaces each list of tokens directly below `token`. */
export function mapChildren(token: Token, map: (tokens: Token[]) => Token[]): void {
  // The alternative text of an image is no markup.
  if (token.type === "image") return;
  if ("tokens" in token && token.tokens) token.tokens = map(token.tokens);
  if (token.type === "list") {
    for (const item of token["items"]) item.tokens = map(item.tokens);
  } else if (token.type === "table") {
    for (const row of [token["header"], ...token["rows"]]) {
      for (const cell of row) cell.tokens = map(cell.tokens);
    }
  }
}

function isRawTag(token: Token): token is RawTag {
  return token.type === "html" && "element" in token;
}
