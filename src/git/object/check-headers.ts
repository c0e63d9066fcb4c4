import type { FindingId } from "./finding.ts";

/**
 * What is wrong with the frame of a commit's or tag's headers: they end in an empty line, or with
 * the object, and hold no NUL.
 */
export function checkHeaderFrame(content: Uint8Array): FindingId | undefined {
  for (let at = 0; at < content.length; at++) {
    if (content[at] === 0) return "nulInHeader";
    if (content[at] === 0x0a && content[at + 1] === 0x0a) return undefined;
  }
  return content.at(-1) === 0x0a ? undefined : "unterminatedHeader";
}
