const TAG = /<\/?[a-z][a-z\d-]*(?:\s[^<>]*)?\/?>/gi;
const LINK_TEXT = /(?<!!)\[[^[\]]*\](?=\([^()\s]*(?:\)|\s))/g;
/** A run of marks of emphasis, or the end of a line. */
const MARK = /\n|\*{1,3}|_{1,3}|~{1,3}/g;

/**
 * Replaces tags, marks of emphasis and the texts of links in a Markdown text by line breaks, so
 * that what is left keeps its position: they separate words as the elements of the document do.
 *
 * An approximation of Markdown in linear time: emphasis ends in its line, with the run of marks
 * with which it starts.
 *
 * @param text A text without code.
 */
export function maskMarks(text: string): string {
  const plain = text.replace(TAG, breaks).replace(LINK_TEXT, breaks);
  let masked = "";
  let end = 0;
  for (const [from, to] of findMarks(plain)) {
    masked += plain.slice(end, from) + breaks(plain.slice(from, to));
    end = to;
  }
  return masked + plain.slice(end);
}

/** Finds the marks at both ends of each emphasis, in the order of the text. */
function findMarks(text: string): [from: number, to: number][] {
  const found: [number, number][] = [];
  /** Where the present line has opened emphasis, by its mark. */
  const opened = new Map<string, number>();
  for (const { 0: mark, index } of text.matchAll(MARK)) {
    const [before, after] = [text[index - 1] ?? " ", text[index + mark.length] ?? " "];
    const open = opened.get(mark);
    if (mark === "\n") opened.clear();
    else if (open !== undefined && /[^\s\\]/.test(before) && /[\W_]/.test(after)) {
      found.push([open, open + mark.length], [index, index + mark.length]);
      opened.delete(mark);
    } else if (/[^a-z\d\\]/i.test(before) && /\S/.test(after)) opened.set(mark, index);
  }
  return found.toSorted(([a], [b]) => a - b);
}

const breaks = (text: string): string => "\n".repeat(text.length);
