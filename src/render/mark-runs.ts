/** A part of a line, and whether it is marked. */
interface Run {
  readonly text: string;
  readonly isChanged: boolean;
}

/** A tag, an entity, which stands for one character, or text. */
const TOKEN = /<[^>]*>|&[^;]*;|[^<&]+/g;

/**
 * Marks parts of a line of highlighted HTML with `b` elements, which are inside of those of the
 * highlighter.
 *
 * @param html Escaped text and tags.
 * @param runs All of the text of the line.
 */
export function markRuns(html: string, runs: readonly Run[]): string {
  if (!runs.some(({ isChanged }) => isChanged)) return html;
  let marked = "";
  let isOpen = false;
  let at = 0;
  let left = runs[0]?.text.length ?? 0;
  const setOpen = (isMarked: boolean): void => {
    if (isOpen !== isMarked) marked += isMarked ? "<b>" : "</b>";
    isOpen = isMarked;
  };
  const add = (text: string, chars: number): void => {
    setOpen(runs[at]?.isChanged ?? false);
    marked += text;
    left -= chars;
  };
  for (const [token] of html.matchAll(TOKEN)) {
    if (token.startsWith("<")) {
      setOpen(false);
      marked += token;
      continue;
    }
    const isEntity = token.startsWith("&");
    const length = isEntity ? 1 : token.length;
    for (let from = 0; from < length;) {
      while (left === 0 && at + 1 < runs.length) left = runs[++at]?.text.length ?? 0;
      const chars = left > 0 ? Math.min(left, length - from) : length - from;
      add(isEntity ? token : token.slice(from, from + chars), chars);
      from += chars;
    }
  }
  setOpen(false);
  return marked;
}
