import type { ByteText } from "../byte-text.ts";

/**
 * A text as git stores those that people write: no white space at the ends of lines, one empty line
 * where there are several, none at either end, and a line feed at the end of the last.
 *
 * @see git-stripspace(1)
 */
export function stripSpace(text: ByteText): ByteText {
  const lines = text.split("\n").map(trimLineEnd);
  const kept = lines.filter((line, at) => line !== "" || (lines[at - 1] ?? "") !== "");
  if (kept.at(-1) === "") kept.pop();
  return kept.map((line) => `${line}\n`).join("") as ByteText;
}

// No pattern: one that looks for the end from every blank takes quadratic time.
function trimLineEnd(line: string): string {
  let end = line.length;
  while (end > 0 && " \t\r".includes(line.charAt(end - 1))) end--;
  return line.slice(0, end);
}
