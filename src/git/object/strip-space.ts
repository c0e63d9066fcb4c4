import type { ByteText } from "../byte-text.ts";

/**
 * Cleans text written by people, as git does: removes white space at line ends, collapses empty
 * lines, removes empty lines at both ends, and ends the last line with a line feed.
 *
 * @see git-stripspace(1)
 */
export function stripSpace(text: ByteText): ByteText {
  const lines = text.split("\n").map(trimBlanks);
  const kept = lines.filter((line, at) => line !== "" || (lines[at - 1] ?? "") !== "");
  if (kept.at(-1) === "") kept.pop();
  return kept.map((line) => `${line}\n`).join("") as ByteText;
}

/** Removes trailing white space, by git's definition of white space. */
export function trimBlanks(text: string): string {
  // Not a regular expression: one that tries to match the end from every blank takes quadratic
  // time.
  let end = text.length;
  while (end > 0 && " \t\r\n".includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
