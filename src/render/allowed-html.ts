/**
 * The HTML that rendering may output. Two steps use these lists: the cleaning of raw HTML in the
 * source, and the final sanitizer.
 */

/** Allowed elements. The tags of other elements are removed, and their content is kept. */
export const ALLOWED_ELEMENTS: ReadonlySet<string> = new Set(
  `h1 h2 h3 h4 h5 h6 h7 h8 br b i strong em a pre code img tt div ins del sup sub p ol ul li
   table thead tbody tfoot tr th td colgroup col caption blockquote label dl dt dd kbd q samp var
   hr ruby rp rt rtc s strike summary details figure figcaption abbr bdo bdi cite dfn mark small
   span time video wbr input svg path u article aside section hgroup acronym center
   meter progress`.split(/\s+/),
);

/**
 * Elements that are removed with their content, because it is not text to read. The text of others,
 * such as `<option>`, stays without its tags.
 */
export const OPAQUE_ELEMENTS: ReadonlySet<string> = new Set([
  "script",
  "style",
  "iframe",
  "noembed",
  "noframes",
  "noscript",
  "title",
]);

/** The elements that a part of a table may be directly below. */
export const TABLE_PARENTS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...["caption", "colgroup", "thead", "tbody", "tfoot"].map(
    (name) => [name, new Set(["table"])] as const,
  ),
  ["col", new Set(["table", "colgroup"])],
  ["tr", new Set(["table", "thead", "tbody", "tfoot"])],
  ...["td", "th"].map(
    (name) => [name, new Set(["table", "thead", "tbody", "tfoot", "tr"])] as const,
  ),
]);

const GENERAL_ATTRIBUTES = `id title lang dir align valign width height alt cite datetime open
  start type value reversed colspan rowspan span scope abbr headers compact role
  aria-label aria-hidden aria-describedby style`.split(/\s+/);

const OWN_ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  a: ["href", "name"],
  img: ["src"],
  video: ["src", "poster", "controls", "autoplay", "muted", "loop", "playsinline"],
  input: ["checked", "disabled"],
  svg: ["viewbox", "fill"],
  meter: ["min", "max", "low", "high", "optimum"],
  progress: ["max"],
  path: ["d", "fill", "fill-rule", "stroke", "stroke-width", "stroke-linecap"],
};

const ATTRIBUTES: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [...ALLOWED_ELEMENTS].map((name) => [
    name,
    new Set([...GENERAL_ATTRIBUTES, ...(OWN_ATTRIBUTES[name] ?? [])]),
  ]),
);

/**
 * Whether an element may have the attribute, regardless of its value. Both names are in lower case.
 */
export function isAllowedAttribute(element: string, name: string): boolean {
  return ATTRIBUTES.get(element)?.has(name) === true;
}

export const VOID_ELEMENTS: ReadonlySet<string> = new Set([
  "br",
  "hr",
  "img",
  "input",
  "col",
  "wbr",
]);

/** Attributes that hold a URL; their schemes are checked. */
export const URL_ATTRIBUTES: ReadonlySet<string> = new Set(["href", "src", "poster", "cite"]);

/** Attributes that may be empty; of others, an empty value is dropped with its name. */
export const EMPTY_ATTRIBUTES: ReadonlySet<string> = new Set(
  `alt autoplay checked compact controls disabled loop muted open playsinline reversed`.split(" "),
);

/**
 * Allowed URL schemes.
 *
 * SECURITY: an allowlist, because a blocklist would miss schemes that run code or contain a
 * document (`javascript`, `vbscript`, `data`, `blob`, `view-source`), and spellings of them that
 * browsers accept.
 */
export const ALLOWED_SCHEMES: ReadonlySet<string> = new Set(
  `http https mailto tel sms xmpp irc ircs ftp ftps sftp ssh git
  git+ssh git+https svn magnet matrix news nntp geo webcal sip sips bitcoin ipfs gemini gopher
  vscode vscode-insiders jetbrains obsidian steam ed2k fish dav davs ldap ldaps`.split(/\s+/),
);

/** Attributes of drawings that hold a color, or a number. */
const PAINTS: ReadonlySet<string> = new Set(["fill", "stroke"]);
const PAINT = /^(?:[a-z]{3,24}|#[0-9a-f]{3,8})$/i;
const NUMBERS: ReadonlySet<string> = new Set(["stroke-width"]);

/**
 * Whether the value of a drawing's attribute is a plain color or number; true for other attributes.
 *
 * SECURITY: a paint server, `url(…)`, sends a request to another host or refers to an element of
 * the page.
 */
export function isPlainPaint(attribute: string, value: string): boolean {
  if (PAINTS.has(attribute)) return PAINT.test(value);
  return !NUMBERS.has(attribute) || /^\d{0,4}(?:\.\d{1,4})?$/.test(value);
}

/** Elements that may have a style attribute. */
const STYLED_ELEMENTS: ReadonlySet<string> = new Set(["div", "span", "p", "tr", "th", "td"]);
const COLOR =
  /^(?:color|background-color)\s*:\s*(?:#[0-9a-f]{3,8}|[a-z]{3,24}|(?:rgb|hsl)a?\([\d.,%/\s-]{1,64}\))$/i;
const ALIGNMENT = /^text-align\s*:\s*(?:left|center|right)$/i;

/**
 * Returns the style unchanged if every declaration sets a colour (or aligns a table cell), else
 * undefined. Other declarations could affect the page outside of the element.
 */
export function checkStyle(element: string, style: string): string | undefined {
  if (!STYLED_ELEMENTS.has(element)) return undefined;
  const declarations = style
    .split(";")
    .map((declaration) => declaration.trim())
    .filter((declaration) => declaration !== "");
  const isCell = element === "th" || element === "td";
  const isAllowed = declarations.every(
    (declaration) => COLOR.test(declaration) || (isCell && ALIGNMENT.test(declaration)),
  );
  return isAllowed && declarations.length > 0 ? style : undefined;
}
