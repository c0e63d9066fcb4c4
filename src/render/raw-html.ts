import { Tokenizer } from "htmlparser2";
import type { Token } from "marked";
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
import { TooMuchWork } from "./render-budget.ts";
import { ID_PREFIX } from "./slug.ts";
import { mapChildren, type RawTag, textToken } from "./token-tree.ts";

/**
 * The sanitizer compares closing tags with all open ones, so its work grows quadratically with
 * this.
 */
const TAGS_MAX = 20_000;

/**
 * Makes a function that splits the raw HTML of a text into complete, cleaned tags and text.
 *
 * Each token is parsed separately, so that an unclosed tag, attribute or comment cannot swallow
 * later output of the renderer. Tags need not be balanced, because Markdown may be between
 * `<details>` and `</details>`; the sanitizer balances the document.
 *
 * SECURITY: removes from a text everything that only renderers may write: classes, targets, and ids
 * without the prefix. Other forbidden HTML may pass, because the sanitizer removes it.
 *
 * @returns A function for the outermost tokens of a document. Each call continues after the last
 *   one. It throws `TooMuchWork` for more than 20,000 tags.
 */
export function rawHtmlCleaner(options: MarkupOptions): (tokens: readonly Token[]) => Token[] {
  let tagCount = 0;

  /** @param list The element of the list whose content is dropped. */
  function clean(tokens: readonly Token[], list: { opaque?: string | undefined }): Token[] {
    const cleaned: Token[] = [];
    for (const token of tokens) {
      mapChildren(token, (children) => clean(children, {}));
      const pieces = isRawHtml(token) ? readHtml(token.text) : [token];
      for (const piece of pieces) {
        const tag = isTag(piece) ? piece : undefined;
        if (tag) tagCount += 1;
        if (tag && OPAQUE_ELEMENTS.has(tag.element)) {
          if (!tag.isClosing) list.opaque ??= tag.element;
          else if (tag.element === list.opaque) list.opaque = undefined;
        } else if (list.opaque === undefined && (!tag || ALLOWED_ELEMENTS.has(tag.element))) {
          cleaned.push(isTag(piece) ? formatTag(piece, options) : piece);
        }
      }
      if (tagCount > TAGS_MAX) throw new TooMuchWork(`it has more than ${TAGS_MAX} HTML tags`);
    }
    return cleaned;
  }

  const outermost = {};
  return (tokens) => clean(tokens, outermost);
}

/** The lexer returns text inside `<pre>` or `<code>` unparsed, including tags. */
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

/**
 * Parses `html` into tags and text, without comments, declarations, and an incomplete tag at the
 * end.
 */
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
        // The first of duplicate attributes counts, as in browsers.
        if (tag && !Object.hasOwn(tag.attributes, attribute)) tag.attributes[attribute] = value;
      },
      onopentagend: endTag,
      onselfclosingtag: endTag,
      onclosetag(start, end) {
        const element = html.slice(start, end).toLowerCase();
        if (!VOID_ELEMENTS.has(element)) pieces.push({ element, isClosing: true, attributes: {} });
      },
      ontext(start, end) {
        // A text token keeps character references, so a bare ampersand must be escaped.
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
  // Comments and declarations are dropped.
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
  // A language class of code is the only class allowed: it labels the language and affects nothing
  // else.
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
