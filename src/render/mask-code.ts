/**
 * Replaces code blocks, code spans and comments of a Markdown text by spaces, so that what is left
 * keeps its position.
 *
 * An approximation of Markdown in linear time: lists and quotes are recognized by their markers
 * alone.
 */
export function maskCode(text: string): string {
  const masked: [number, number][] = [];
  /** Where the present paragraph starts; undefined between paragraphs. */
  let paragraph: number | undefined;
  let fence: { readonly start: number; readonly marker: string } | undefined;
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
    if (fence) {
      const isClosing = marker.startsWith(fence.marker) && info.trim() === "";
      if (isClosing) {
        masked.push([fence.start, end]);
        fence = undefined;
        isAfterBlank = true;
      }
    } else if (marker !== "" && !(marker.startsWith("`") && info.includes("`"))) {
      endParagraph(at);
      fence = { start: at, marker };
    } else if (line.trim() === "") {
      endParagraph(at);
      isAfterBlank = true;
    } else {
      const isIndented = /^(?: {4}| {0,3}\t)/.test(line);
      if (/^ {0,3}(?:[-+*]|\d{1,9}[.)])\s/.test(line)) isInList = true;
      else if (isAfterBlank && !/^\s/.test(line)) isInList = false;
      if (isIndented && isAfterBlank && !isInList) masked.push([at, end]);
      else {
        paragraph ??= at;
        isAfterBlank = false;
      }
    }
    at = end;
  }
  if (fence) masked.push([fence.start, text.length]);
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
