import type { FindingId } from "./finding.ts";

/**
 * Checks that the headers of a commit or tag contain no NUL and end with an empty line or with the
 * object.
 *
 * @returns The id of the fault, or undefined if there is none.
 */
export function checkHeaderFrame(content: Uint8Array): FindingId | undefined {
  for (let at = 0; at < content.length; at++) {
    if (content[at] === 0) return "nulInHeader";
    if (content[at] === 0x0a && content[at + 1] === 0x0a) return undefined;
  }
  return content.at(-1) === 0x0a ? undefined : "unterminatedHeader";
}
