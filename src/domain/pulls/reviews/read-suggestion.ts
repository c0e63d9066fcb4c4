/**
 * The text that a comment suggests in place of its lines: that of its first fenced block with the
 * word `suggestion`.
 *
 * @returns Lines with a line feed each, "" to remove the lines; undefined for a comment that
 *   suggests nothing.
 */
export function readSuggestion(body: string): string | undefined {
  const lines = body.replaceAll("\r\n", "\n").split("\n");
  for (const [at, line] of lines.entries()) {
    const [, indent = "", fence] = /^( {0,3})(`{3,})[ \t]*suggestion[ \t]*$/.exec(line) ?? [];
    if (fence === undefined) continue;
    const inside = lines.slice(at + 1);
    const end = inside.findIndex((each) => isClosing(each, fence.length));
    const block = end < 0 ? inside : inside.slice(0, end);
    return block.map((each) => `${withoutIndent(each, indent.length)}\n`).join("");
  }
  return undefined;
}

/** Whether a line closes a block whose fence has so many backticks. */
const isClosing = (line: string, length: number): boolean =>
  (/^ {0,3}(`{3,})[ \t]*$/.exec(line)?.[1]?.length ?? 0) >= length;

/** A line of a block without the spaces that its fence begins with. */
function withoutIndent(line: string, length: number): string {
  let start = 0;
  while (start < length && line.charAt(start) === " ") start++;
  return line.slice(start);
}
