import sanitizeHtml from "sanitize-html";
import {
  ALLOWED_ELEMENTS,
  ALLOWED_SCHEMES,
  checkStyle,
  isAllowedAttribute,
  isPlainPaint,
  OPAQUE_ELEMENTS,
  URL_ATTRIBUTES,
  VOID_ELEMENTS,
} from "./allowed-html.ts";
import { ID_PREFIX } from "./slug.ts";

/** Tags nested deeper are removed, and their content is kept. Browsers stop at 512. */
const NESTING_MAX = 200;

/**
 * Classes that renderers write. Classes in the text's own HTML are removed earlier (see
 * raw-html.ts), so this list only restricts the output of renderers.
 */
const GENERATED_CLASSES: Record<string, (string | RegExp)[]> = {
  a: ["commit", "compare", "ref-issue", "ref-external-issue"],
  blockquote: [/^attention-(?:header|note|tip|important|warning|caution)$/],
  code: ["chroma", "display", "nohighlight", /^language-[\w+#.-]{1,40}$/],
  details: ["frontmatter-content"],
  div: ["code-block-container", "code-overflow-scroll"],
  li: ["task-list-item"],
  pre: ["code-block", "is-loading", "plain-text"],
  span: ["color-preview", "emoji", /^hljs-[a-z_-]{1,40}$/, /^[a-z]{1,20}_{1,2}$/],
  strong: [/^attention-(?:note|tip|important|warning|caution)$/],
  svg: ["attention-icon", "svg", /^attention-(?:note|tip|important|warning|caution)$/],
  table: ["data-table"],
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

/** The name of an element that is not allowed, so that its tags are removed. */
const DROPPED = "dropped";

/** The types of the library lack one of its options. */
type Policy = sanitizeHtml.IOptions & { allowedEmptyAttributes: string[] };

const policy: Policy = {
  allowedTags: [...ALLOWED_ELEMENTS],
  nonTextTags: [...OPAQUE_ELEMENTS],
  disallowedTagsMode: "discard",
  nestingLimit: NESTING_MAX,
  // `checkAttributes` checks all attributes, except for classes and schemes.
  allowedAttributes: { "*": ["*"] },
  allowedClasses: { ...GENERATED_CLASSES, "*": [] },
  allowedSchemes: ALLOWED_SCHEMES,
  allowedSchemesAppliedToAttributes: URL_ATTRIBUTES,
  allowedEmptyAttributes: ["alt", "checked", "disabled", "open", "controls", "muted", "loop"],
  selfClosing: [...VOID_ELEMENTS],
  parseStyleAttributes: false,
  transformTags: { "*": (name, attributes) => checkAttributes(name, attributes) },
};

function checkAttributes(name: string, attributes: sanitizeHtml.Attributes): sanitizeHtml.Tag {
  // Other types of input could ask readers for a password.
  if (name === "input" && attributes["type"]?.toLowerCase() !== "checkbox") {
    return { tagName: DROPPED, attribs: {} };
  }
  const kept: sanitizeHtml.Attributes = {};
  for (const [attribute, value] of Object.entries(attributes)) {
    const isKnown =
      attribute === "class" ||
      isAllowedAttribute(name, attribute) ||
      GENERATED_ATTRIBUTES[name]?.includes(attribute) === true;
    const checked = isKnown ? checkValue(name, attribute, value) : undefined;
    if (checked !== undefined) kept[attribute] = checked;
  }
  if (name === "input") kept["disabled"] = "";
  if (name === "a" && kept["href"] !== undefined) {
    // `nofollow` keeps links from passing search rank, `noopener` keeps a new tab from accessing
    // this one.
    kept["rel"] = kept["target"] === undefined ? "nofollow" : "nofollow noopener";
  }
  return { tagName: name, attribs: kept };
}

function checkValue(element: string, attribute: string, value: string): string | undefined {
  switch (attribute) {
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
      return isPlainPaint(attribute, value) ? value : undefined;
  }
}

/**
 * Removes everything from HTML that is not allowed. In the result, tags are balanced, text and
 * attributes are escaped, and void elements are written `<br/>`.
 *
 * SECURITY: the last step of every renderer. Nothing may be inserted into its result.
 */
export function sanitize(html: string): string {
  // The result contains an unescaped `>` only at the end of tags, so this changes only void
  // elements.
  return sanitizeHtml(html, policy).replaceAll(" />", "/>");
}
