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

/** The context of a token, from enclosing Markdown or HTML tags. */
export interface TokenContext {
  isInLink: boolean;
  isInCode: boolean;
}

const CODE_ELEMENTS: ReadonlySet<string> = new Set(["code", "pre", "kbd", "samp", "tt", "var"]);

/** A token for HTML that a renderer generated. */
export function generated(html: string): Token {
  return { type: "html", raw: "", text: html, block: false, pre: false };
}

/** A token for plain text. Character references in it are kept. */
export function textToken(text: string): Token {
  return { type: "text", raw: text, text, escaped: false };
}

/**
 * Makes a function that replaces each token of a list by the results of `map`, children first. Each
 * call continues the list of the last one.
 *
 * Lists of children are replaced in their parents; tokens are not copied.
 */
export function tokenMapper(
  map: (token: Token, scope: TokenContext) => readonly Token[],
  scope: TokenContext = { isInLink: false, isInCode: false },
): (tokens: readonly Token[]) => Token[] {
  // An unclosed element ends with the list of tokens that contains its opening tag.
  let links = 0;
  let codes = 0;
  return (tokens) => {
    const mapped: Token[] = [];
    for (const token of tokens) {
      if (isRawTag(token)) {
        const step = token.isClosing ? -1 : 1;
        if (token.element === "a") links = Math.max(0, links + step);
        if (CODE_ELEMENTS.has(token.element)) codes = Math.max(0, codes + step);
      }
      const here = { isInLink: scope.isInLink || links > 0, isInCode: scope.isInCode || codes > 0 };
      const below = { ...here, isInLink: here.isInLink || token.type === "link" };
      mapChildren(token, (children) => tokenMapper(map, below)(children));
      for (const replacement of map(token, here)) mapped.push(replacement);
    }
    return mapped;
  };
}

/** Replaces each list of tokens directly below `token`. */
export function mapChildren(token: Token, map: (tokens: Token[]) => Token[]): void {
  // The alternative text of an image is not markup.
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

export function isRawTag(token: Token): token is RawTag {
  return token.type === "html" && "element" in token;
}
