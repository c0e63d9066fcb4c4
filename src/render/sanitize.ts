import { Parser } from "htmlparser2";
import {
  ALLOWED_ELEMENTS,
  ALLOWED_SCHEMES,
  checkStyle,
  EMPTY_ATTRIBUTES,
  isAllowedAttribute,
  isPlainPaint,
  OPAQUE_ELEMENTS,
  TABLE_PARENTS,
  URL_ATTRIBUTES,
  VOID_ELEMENTS,
} from "./allowed-html.ts";
import { escapeHtml, formatAttributes } from "./html.ts";
import type { RenderBudget } from "./render-budget.ts";
import { ID_PREFIX } from "./slug.ts";

/** Tags nested deeper are removed, and their content is kept. Browsers stop at 512. */
const NESTING_MAX = 200;
/** Characters that are read between two pauses, and steps for each. */
const PIECE_CHARS = 8 * 1024;
const STEPS_PER_CHAR = 20;

/**
 * Classes that renderers write. Classes in the text's own HTML are removed earlier (see
 * raw-html.ts), so this list only restricts the output of renderers.
 */
const GENERATED_CLASSES: Readonly<Record<string, RegExp>> = {
  a: /^(?:commit|compare|ref-issue|ref-external-issue)$/,
  blockquote: /^attention-(?:header|note|tip|important|warning|caution)$/,
  code: /^(?:chroma|display|nohighlight|language-[\w+#.-]{1,40})$/,
  details: /^frontmatter-content$/,
  div: /^code-(?:block-container|overflow-scroll|suggestion)$/,
  li: /^task-list-item$/,
  pre: /^(?:code-block|is-loading|plain-text)$/,
  span: /^(?:color-preview|emoji|hljs-[a-z_-]{1,40}|[a-z]{1,20}_{1,2})$/,
  strong: /^attention-(?:note|tip|important|warning|caution)$/,
  svg: /^(?:attention-icon|svg|attention-(?:note|tip|important|warning|caution))$/,
  table: /^data-table$/,
};

/** Attributes that only renderers write; raw-html.ts drops them from the text's own HTML. */
const GENERATED_ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  a: ["target", "rel"],
  input: ["data-source-position"],
};

/**
 * SECURITY: an id of another form could shadow an id of the page, or a global variable of its
 * scripts.
 */
const ID = new RegExp(`^(?:fn:|fnref\\d*:)?${ID_PREFIX}`);

type Attributes = Readonly<Record<string, string>>;

function cleanAttributes(element: string, attributes: Attributes): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(attributes)) {
    const isKnown =
      name === "class" ||
      isAllowedAttribute(element, name) ||
      GENERATED_ATTRIBUTES[element]?.includes(name) === true;
    const cleaned = isKnown ? cleanValue(element, name, value) : undefined;
    if (cleaned !== undefined && (cleaned !== "" || EMPTY_ATTRIBUTES.has(name))) {
      kept[name] = cleaned;
    }
  }
  if (element === "input") kept["disabled"] = "";
  if (element === "a" && kept["href"] !== undefined) {
    // `nofollow` keeps links from passing search rank, `noopener` keeps a new tab from accessing
    // this one.
    kept["rel"] = kept["target"] === undefined ? "nofollow" : "nofollow noopener";
  }
  return kept;
}

function cleanValue(element: string, attribute: string, value: string): string | undefined {
  switch (attribute) {
    case "class":
      return cleanClasses(element, value);
    case "style":
      return checkStyle(element, value);
    case "id":
    case "name":
      return ID.test(value) && !/\s/.test(value) ? value : undefined;
    case "target":
      return value === "_blank" ? value : undefined;
    case "rel":
      return undefined;
    default:
      if (URL_ATTRIBUTES.has(attribute) && !hasAllowedScheme(value)) return undefined;
      return isPlainPaint(attribute, value) ? value : undefined;
  }
}

function cleanClasses(element: string, value: string): string {
  const pattern = GENERATED_CLASSES[element];
  return value
    .split(/\s+/)
    .filter((name) => pattern?.test(name) === true)
    .join(" ");
}

/** SECURITY: browsers drop control characters and spaces of a URL before they read its scheme. */
function hasAllowedScheme(url: string): boolean {
  const visible = url.replaceAll(/[\p{Cc}\p{Z}]+|<!--.*?(?:-->|$)/gsu, "");
  const scheme = /^([a-z][a-z\d+.-]*):/i.exec(visible)?.[1]?.toLowerCase();
  return scheme === undefined || ALLOWED_SCHEMES.has(scheme);
}

const isOfTable = (name: string): boolean => name === "table" || TABLE_PARENTS.has(name);

/** @param part The innermost part of a table that is open. */
const mayHoldTable = (part: string | undefined): boolean =>
  part === undefined || part === "td" || part === "th" || part === "caption";

/** An element that is open, and whether its tags are in the result. */
interface OpenElement {
  readonly name: string;
  readonly isKept: boolean;
}

/**
 * Writes HTML again with what is allowed of it.
 *
 * The parser keeps the stack of open elements: it closes what HTML closes by itself, drops closing
 * tags of elements that are not open, and calls back for each element in the order of that stack.
 */
class Sanitizer {
  #html = "";
  readonly #open: OpenElement[] = [];
  /** The names of the open elements that are kept. */
  readonly #kept: string[] = [];
  /** Number of open elements from the one on whose content is dropped. */
  #opaqueCount = 0;
  readonly #parser = new Parser(
    {
      onopentag: (name, attributes) => this.#openElement(name, attributes),
      ontext: (text) => {
        if (this.#opaqueCount === 0) this.#html += escapeHtml(text, false);
      },
      onclosetag: (name) => this.#closeElement(name),
    },
    { decodeEntities: true },
  );

  write(html: string): void {
    this.#parser.write(html);
  }

  end(): string {
    this.#parser.end();
    return this.#html;
  }

  #openElement(name: string, attributes: Attributes): void {
    if (this.#opaqueCount > 0) {
      this.#opaqueCount += 1;
      return;
    }
    const isKept = this.#isAllowed(name, attributes);
    if (!isKept && OPAQUE_ELEMENTS.has(name)) {
      this.#opaqueCount = 1;
      return;
    }
    this.#open.push({ name, isKept });
    if (!isKept) return;
    this.#kept.push(name);
    const cleaned = formatAttributes(cleanAttributes(name, attributes));
    this.#html += `<${name}${cleaned}${VOID_ELEMENTS.has(name) ? "/>" : ">"}`;
  }

  #closeElement(name: string): void {
    if (this.#opaqueCount > 0) {
      this.#opaqueCount -= 1;
      return;
    }
    // The parser also closes an element whose tag the end of the text cuts off.
    if (this.#open.at(-1)?.name !== name) return;
    if (this.#open.pop()?.isKept !== true) return;
    this.#kept.pop();
    if (!VOID_ELEMENTS.has(name)) this.#html += `</${name}>`;
  }

  #isAllowed(name: string, attributes: Attributes): boolean {
    if (!ALLOWED_ELEMENTS.has(name) || this.#kept.length >= NESTING_MAX) return false;
    // Other types of input could ask readers for a password.
    if (name === "input") return attributes["type"]?.toLowerCase() === "checkbox";
    // A part of a table outside of one could end a table of the page around the text.
    const parents = TABLE_PARENTS.get(name);
    if (parents) return parents.has(this.#kept.at(-1) ?? "");
    // Browsers end a table where another one begins between its cells, so that one closing tag
    // too many is left.
    return name !== "table" || mayHoldTable(this.#kept.findLast(isOfTable));
  }
}

/**
 * Removes everything from HTML that is not allowed. In the result, tags are balanced, text and
 * attributes are escaped, and void elements are written `<br/>`.
 *
 * SECURITY: the last step of every renderer. Nothing may be inserted into its result.
 */
export async function sanitize(html: Iterable<string>, budget: RenderBudget): Promise<string> {
  const sanitizer = new Sanitizer();
  for (const part of html) {
    for (let at = 0; at < part.length; at += PIECE_CHARS) {
      const piece = part.slice(at, at + PIECE_CHARS);
      sanitizer.write(piece);
      const pausing = budget.pause(STEPS_PER_CHAR * piece.length);
      if (pausing) await pausing;
    }
  }
  return sanitizer.end();
}
