import type { ByteText } from "../byte-text.ts";

/**
 * A text as git stores those that people write: no white space at the ends of lines, one empty line
 * where there are several, none at either end, and a line feed at the end of the last.
 *
 * @see git-stripspace(1)
 */
export function stripSpace(text: ByteText): ByteText {
  const lines = text.split("\n").map(trimBlanks);
  const kept = lines.filter((line, at) => line !== "" || (lines[at - 1] ?? "") !== "");
  if (kept.at(-1) === "") kept.pop();
  return kept.map((line) => `${line}\n`).join("") as ByteText;
}

/** A text without what git takes for white space at its end. */
export function trimBlanks(text: string): string {
  // No pattern: one that looks for the end from every blank takes quadratic time.
  let end = text.length;
  while (end > 0 && " \t\r\n".includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
