import sanitizeHtml from "sanitize-html";
import {
  ALLOWED_ELEMENTS,
  ALLOWED_SCHEMES,
  checkStyle,
  isAllowedAttribute,
  OPAQUE_ELEMENTS,
  URL_ATTRIBUTES,
  VOID_ELEMENTS,
} from "./allowed-html.ts";
import { ID_PREFIX } from "./slug.ts";

/** Elements nested deeper are dropped, and their content stays. Browsers stop at 512. */
const NESTING_MAX = 200;

/**
 * Classes that this room writes. A class of the text's own HTML is gone before this list is asked
 * (see raw-html.ts): here it only holds what the renderers may emit.
 */
const GENERATED_CLASSES: Record<string, (string | RegExp)[]> = {
  a: ["commit", "compare", "ref-issue"],
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

/** SECURITY: an id outside these forms could shadow an id of the page, or a name its scripts read. */
const ID = new RegExp(`^(?:fn:|fnref\\d*:)?${ID_PREFIX}`);

/** The name of an element that is on no list, so that its tags go. */
const DROPPED = "dropped";

/** The types of the library lack one of its options. */
type Policy = sanitizeHtml.IOptions & { allowedEmptyAttributes: string[] };

const policy: Policy = {
  allowedTags: [...ALLOWED_ELEMENTS],
  nonTextTags: [...OPAQUE_ELEMENTS],
  disallowedTagsMode: "discard",
  nestingLimit: NESTING_MAX,
  // `checkAttributes` has judged them all, except for classes and schemes.
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
  // Other kinds of input are forms, which could ask readers for a password.
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
    // Links in texts lend no rank, and a new tab can't reach back into this one.
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
      return value;
  }
}

/**
 * HTML with nothing in it that isn't on a list of what is allowed: tags balanced, text and
 * attributes escaped, void elements written `<br/>`.
 *
 * SECURITY: the last step of every renderer. Nothing is put into its result.
 */
export function sanitize(html: string): string {
  // The result holds a bare `>` only where a tag ends, so this touches nothing but void elements.
  return sanitizeHtml(html, policy).replaceAll(" />", "/>");
}
