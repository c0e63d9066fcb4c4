const BLOCK_TAGS =
  "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|" +
  "fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|" +
  "menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|" +
  "track|ul";

/** How a block of HTML starts and ends: with a line that matches, or before a blank line. */
const HTML_BLOCKS: readonly { readonly start: RegExp; readonly end: RegExp | undefined }[] = [
  { start: /^\s*<!--/, end: /-->/ },
  {
    start: /^\s*<(?:script|pre|style|textarea)(?:[\s>]|$)/i,
    end: /<\/(?:script|pre|style|textarea)>/i,
  },
  { start: new RegExp(`^\\s*</?(?:${BLOCK_TAGS})(?:\\s|/?>|$)`, "i"), end: undefined },
];

/**
 * Replaces code blocks, code spans and comments of a Markdown text by spaces, so that what is left
 * keeps its position.
 *
 * An approximation of Markdown in linear time: lists and quotes are recognized by their markers
 * alone.
 *
 * @param options.withHtml Whether to replace blocks of HTML as well.
 */
export function maskCode(text: string, { withHtml = false } = {}): string {
  const masked: [number, number][] = [];
  /** Where the present paragraph starts; undefined between paragraphs. */
  let paragraph: number | undefined;
  let fence: { readonly start: number; readonly marker: string } | undefined;
  let html: { readonly start: number; readonly end: RegExp | undefined } | undefined;
  let isInList = false;
  let isAfterBlank = true;
  let at = 0;

  const endParagraph = (end: number): void => {
    if (paragraph !== undefined) maskSpans(text, paragraph, end, masked);
    paragraph = undefined;
  };
  while (at < text.length) {
    const newline = text.indexOf("\n", at);
    const end = newline === -1 ? text.length : newline + 1;
    // Quotes may contain blocks.
    const line = text.slice(at, end).replace(/^(?: {0,3}> ?)+/, "");
    const [, marker = "", info = ""] = /^\s*(`{3,}|~{3,})([^\n]*)/.exec(line) ?? [];
    const isBlank = line.trim() === "";
    const isIndented = /^(?: {4}| {0,3}\t)/.test(line);
    const isCode = isIndented && isAfterBlank && !isInList;
    const block = withHtml ? HTML_BLOCKS.find(({ start }) => start.test(line)) : undefined;
    if (html) {
      if (html.end ? html.end.test(line) : isBlank) {
        masked.push([html.start, end]);
        html = undefined;
        isAfterBlank = true;
      }
    } else if (fence) {
      const isClosing = marker.startsWith(fence.marker) && info.trim() === "";
      if (isClosing) {
        masked.push([fence.start, end]);
        fence = undefined;
        isAfterBlank = true;
      }
    } else if (marker !== "" && !(marker.startsWith("`") && info.includes("`"))) {
      endParagraph(at);
      fence = { start: at, marker };
    } else if (block && !isCode) {
      endParagraph(at);
      if (block.end?.test(line)) masked.push([at, end]);
      else html = { start: at, end: block.end };
    } else if (isBlank) {
      endParagraph(at);
      isAfterBlank = true;
    } else {
      if (/^ {0,3}(?:[-+*]|\d{1,9}[.)])\s/.test(line)) isInList = true;
      else if (isAfterBlank && !/^\s/.test(line)) isInList = false;
      if (isCode) masked.push([at, end]);
      else {
        paragraph ??= at;
        isAfterBlank = false;
      }
    }
    at = end;
  }
  const unclosed = fence ?? html;
  if (unclosed) masked.push([unclosed.start, text.length]);
  endParagraph(text.length);
  return blank(text, masked);
}

/**
 * Finds the code spans and comments of a paragraph: a run of backticks up to the next run of the
 * same length.
 */
function maskSpans(text: string, start: number, end: number, masked: [number, number][]): void {
  const parts = [...text.slice(start, end).matchAll(/\\`|`+|<!--|-->/g)];
  /** The last part of each kind: what has none behind it does not open anything. */
  const last = new Map(parts.map(([part], index) => [part, index]));
  let open: { readonly part: string; readonly from: number } | undefined;
  for (const [index, match] of parts.entries()) {
    const [part] = match;
    const from = start + match.index;
    if (open) {
      if (part !== open.part) continue;
      masked.push([open.from, from + part.length]);
      open = undefined;
      continue;
    }
    const closing = part === "<!--" ? "-->" : part;
    if (part.startsWith("\\") || part === "-->" || (last.get(closing) ?? -1) <= index) continue;
    open = { part: closing, from };
  }
}

function blank(text: string, ranges: readonly [number, number][]): string {
  let result = "";
  let at = 0;
  for (const [start, end] of ranges.toSorted(([a], [b]) => a - b)) {
    result += text.slice(at, start) + text.slice(start, end).replace(/[^\n]/g, " ");
    at = end;
  }
  return result + text.slice(at);
}
