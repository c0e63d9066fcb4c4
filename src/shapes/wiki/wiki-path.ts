/**
 * Names of wiki pages. A page has a title for people (`Release notes`), an address below `…/wiki/`
 * (`Release-notes`), and a file in the wiki's git data (`Release-notes.md`).
 *
 * Each segment of a path is percent-encoded in the address and in the file, with dashes for spaces;
 * a segment that has dashes itself ends with `.-` and keeps spaces and dashes apart.
 *
 * @see services/wiki/wiki_path.go of Gitea, whose files and addresses are the same.
 */

/** Ends a segment in which a dash is a dash and no space. */
const DASH_MARKER = ".-";
const FILE_ENDING = ".md";

/** Addresses of other pages, which no wiki page may have. */
const RESERVED: ReadonlySet<string> = new Set(["_pages", "_new", "_edit", "raw"]);

/** The pages that stand beside and below all others. */
export const SIDEBAR = "_Sidebar";
export const FOOTER = "_Footer";
/** The page that a wiki begins with. */
export const HOME = "Home";

/** Maximum characters of an address, so that its last name is one of a file. */
const ADDRESS_CHARS_MAX = 250;

/** Why a page can't have an address; undefined for any other one. */
export function findMisnamed(address: string): string | undefined {
  if (RESERVED.has(address.toLowerCase())) return "is reserved";
  if (address.length > ADDRESS_CHARS_MAX) return "is too long";
  // Of a Unix file system, of git, and control characters, which no address of a page has.
  return /%[01]\d|%[01][A-F]|%7F|^\.{1,2}$|^\.git$/i.test(address) ? "is not allowed" : undefined;
}

/** The address of a page by the title that somebody typed; "" for a blank one. */
export const toAddress = (title: string): string => encodeSegment(title.trim().toWellFormed());

/**
 * The address as all pages of the same name have it: `Sub Page`, `Sub%20Page` and `Sub-Page.md` are
 * `Sub-Page`. Slashes separate folders.
 *
 * @param path As a request names the page, decoded once.
 */
export const canonicalAddress = (path: string): string =>
  mapSegments(path.toWellFormed().replace(/\.md$/, ""), recodeSegment);

/** The address of the page of a file; undefined for a file that is no page. */
export const addressOfFile = (file: string): string | undefined =>
  file.endsWith(FILE_ENDING) && !/(?:^|\/)\.md$/.test(file) ? canonicalAddress(file) : undefined;

/** The file of a page by its address. */
export const fileOfAddress = (address: string): string =>
  mapSegments(address, (segment) => segment.replaceAll("%20", " ").replaceAll("+", " ")) +
  FILE_ENDING;

/** The title of a page: without the folders that it is in. */
export const titleOf = (address: string): string =>
  decodeSegment(address.slice(address.lastIndexOf("/") + 1));

/** The title of a page with the folders that it is in: `guide/First steps`. */
export const wholeTitleOf = (address: string): string => mapSegments(address, decodeSegment);

const mapSegments = (path: string, map: (segment: string) => string): string =>
  path
    .split("/")
    .filter((segment) => segment !== "")
    .map(map)
    .join("/");

function recodeSegment(segment: string): string {
  const isMarked = segment.endsWith(DASH_MARKER);
  return encodeSegment(decodeSegment(segment), isMarked);
}

function decodeSegment(segment: string): string {
  const text = segment.endsWith(DASH_MARKER)
    ? segment.slice(0, -DASH_MARKER.length)
    : segment.replaceAll("-", " ");
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    // A percent sign that somebody pushed in a file's name stands for itself.
    return text;
  }
}

function encodeSegment(text: string, isMarked = false): string {
  const keepsDashes = isMarked || text.includes("-") || text.endsWith(FILE_ENDING);
  const spaced = keepsDashes ? text + DASH_MARKER : text.replaceAll(" ", "-");
  // As a form encodes a value, which leaves `~` and encodes the five others.
  return encodeURIComponent(spaced)
    .replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%20", "+");
}
