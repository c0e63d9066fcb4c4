import { Tokenizer } from "htmlparser2";
import type { Token } from "marked";
import { tooLarge } from "../lib/failure.ts";
import {
  ALLOWED_ELEMENTS,
  checkStyle,
  isAllowedAttribute,
  OPAQUE_ELEMENTS,
  VOID_ELEMENTS,
} from "./allowed-html.ts";
import { formatAttributes } from "./html.ts";
import { resolveImage, resolveLink } from "./links.ts";
import type { MarkupOptions } from "./markup-options.ts";
import { ID_PREFIX } from "./slug.ts";
import { mapChildren, type RawTag, textToken } from "./token-tree.ts";

/** The sanitizer matches closing tags against all open ones: its work grows with the square of this. */
const TAGS_MAX = 20_000;

const OPAQUE: ReadonlySet<string> = new Set(OPAQUE_ELEMENTS);

/**
 * Takes the HTML that stands in a text apart into whole, clean tags and text.
 *
 * Each token is read by itself, so that a tag, an attribute or a comment it leaves open can't
 * swallow what a renderer writes after it. Tags need not be balanced, because Markdown may stand
 * between `<details>` and `</details>`; the sanitizer balances the document.
 *
 * SECURITY: this is where a text loses what only renderers may write: classes, targets, and ids
 * without the prefix. What the sanitizer refuses anyway may pass here.
 *
 * @throws Failure `too_large` past 20,000 tags.
 */
export function cleanRawHtml(tokens: readonly Token[], options: MarkupOptions): Token[] {
  let tagCount = 0;

  function clean(list: readonly Token[]): Token[] {
    const cleaned: Token[] = [];
    let opaque: string | undefined;
    for (const token of list) {
      mapChildren(token, clean);
      const pieces = isRawHtml(token) ? readHtml(token.text) : [token];
      for (const piece of pieces) {
        const tag = isTag(piece) ? piece : undefined;
        if (tag) tagCount += 1;
        if (tag && OPAQUE.has(tag.element)) {
          if (!tag.isClosing) opaque ??= tag.element;
          else if (tag.element === opaque) opaque = undefined;
        } else if (opaque === undefined && (!tag || ALLOWED_ELEMENTS.has(tag.element))) {
          cleaned.push(isTag(piece) ? formatTag(piece, options) : piece);
        }
      }
      if (tagCount > TAGS_MAX) throw tooLarge(`more than ${TAGS_MAX} HTML tags`);
    }
    return cleaned;
  }

  return clean(tokens);
}

/** Text inside `<pre>` or `<code>` comes from the lexer as it is in the source, tags and all. */
function isRawHtml(token: Token): token is Token & { text: string } {
  return token.type === "html" || (token.type === "text" && token["escaped"] === true);
}

interface FoundTag {
  element: string;
  isClosing: boolean;
  attributes: Record<string, string>;
}

function isTag(piece: FoundTag | Token): piece is FoundTag {
  return "isClosing" in piece;
}

/** The tags and the text of `html`; comments, declarations and what is cut off at its end are left out. */
function readHtml(html: string): (FoundTag | Token)[] {
  const pieces: (FoundTag | Token)[] = [];
  let tag: FoundTag | undefined;
  let attribute = "";
  let value = "";
  const endTag = (): void => {
    if (tag) pieces.push(tag);
    tag = undefined;
  };
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      onopentagname(start, end) {
        tag = { element: html.slice(start, end).toLowerCase(), isClosing: false, attributes: {} };
      },
      onattribname(start, end) {
        attribute = html.slice(start, end).toLowerCase();
        value = "";
      },
      onattribdata(start, end) {
        value += html.slice(start, end);
      },
      onattribentity(codePoint) {
        value += String.fromCodePoint(codePoint);
      },
      onattribend() {
        // The first of two equal names counts, as in browsers.
        if (tag && !Object.hasOwn(tag.attributes, attribute)) tag.attributes[attribute] = value;
      },
      onopentagend: endTag,
      onselfclosingtag: endTag,
      onclosetag(start, end) {
        const element = html.slice(start, end).toLowerCase();
        if (!VOID_ELEMENTS.has(element)) pieces.push({ element, isClosing: true, attributes: {} });
      },
      ontext(start, end) {
        // A text token keeps character references, so an ampersand that stands alone becomes one.
        pieces.push(textToken(html.slice(start, end).replaceAll("&", "&amp;")));
      },
      ontextentity(codePoint) {
        pieces.push(textToken(String.fromCodePoint(codePoint).replace("&", "&amp;")));
      },
      oncdata: ignore,
      oncomment: ignore,
      ondeclaration: ignore,
      onprocessinginstruction: ignore,
      onend: ignore,
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  return pieces;
}

function ignore(): void {
  // Nothing of it is shown.
}

function formatTag(tag: FoundTag, options: MarkupOptions): RawTag {
  const { element, isClosing } = tag;
  const attributes = isClosing ? "" : formatAttributes(cleanAttributes(tag, options));
  const text = `<${isClosing ? "/" : ""}${element}${attributes}>`;
  return { type: "html", raw: "", text, element, isClosing };
}

function cleanAttributes(tag: FoundTag, options: MarkupOptions): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(tag.attributes)) {
    const cleaned = cleanAttribute(tag.element, name, value, options);
    if (cleaned !== undefined) kept[name] = cleaned;
  }
  return kept;
}

function cleanAttribute(
  element: string,
  name: string,
  value: string,
  options: MarkupOptions,
): string | undefined {
  // Names a language for the reader's benefit, and styles nothing else.
  if (name === "class") {
    return element === "code" ? /^\s*language-[\w+#.-]{1,40}\s*$/.exec(value)?.[0] : undefined;
  }
  if (!isAllowedAttribute(element, name)) return undefined;
  switch (name) {
    case "id":
    case "name":
      return value.startsWith(ID_PREFIX) ? value : ID_PREFIX + value;
    case "style":
      return checkStyle(element, value);
    case "href":
      return resolveLink(value, options);
    case "src":
    case "poster":
      return resolveImage(value, options);
    default:
      return value;
  }
}
