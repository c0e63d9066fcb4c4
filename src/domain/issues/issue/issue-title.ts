/** The width of a title, where a character of ASCII takes one place and any other two. */
const WIDTH_MAX = 255;
const ELLIPSIS = "…";
const ELLIPSIS_WIDTH = 3;

/**
 * The title as it is stored: without spaces around it, and cut where it is too wide, as in Gitea.
 */
export function toIssueTitle(text: string): string {
  const title = text.trim();
  const chars = Array.from(title);
  const widthOf = (char: string) => ((char.codePointAt(0) ?? 0) < 0x80 ? 1 : 2);
  if (chars.reduce((sum, char) => sum + widthOf(char), 0) <= WIDTH_MAX) return title;
  let width = 0;
  const kept = chars.findIndex((char) => {
    width += widthOf(char);
    return width + ELLIPSIS_WIDTH > WIDTH_MAX;
  });
  return `${chars.slice(0, kept).join("")}${ELLIPSIS}`;
}
