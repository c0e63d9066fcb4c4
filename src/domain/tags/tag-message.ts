import type { ByteText } from "../../git/byte-text.ts";

/**
 * A message as `git tag --cleanup=whitespace` stores it: no white space at the ends of lines, one
 * empty line where there are several, none at either end.
 *
 * @see git-stripspace(1)
 */
export function cleanTagMessage(message: ByteText): ByteText {
  const lines = message.split("\n").map(trimLineEnd);
  const kept = lines.filter((line, at) => line !== "" || (lines[at - 1] ?? "") !== "");
  if (kept.at(-1) === "") kept.pop();
  return kept.map((line) => `${line}\n`).join("") as ByteText;
}

// No pattern: one that looks for the end from every blank takes quadratic time.
function trimLineEnd(line: string): string {
  let end = line.length;
  while (end > 0 && " \t\r\v\f".includes(line.charAt(end - 1))) end--;
  return line.slice(0, end);
}
