import { GitError } from "../error.ts";
import { isOid, type Oid } from "../oid.ts";

/**
 * Parses an object id in a message.
 *
 * @throws GitError `protocol` if the text is not a SHA-1 object id; other lengths belong to other
 *   hashes.
 */
export function readOidText(text: string): Oid {
  if (!isOid(text)) throw new GitError("protocol", `${JSON.stringify(text)} is not an object id`);
  return text;
}

/**
 * Parses a whole number in a message.
 *
 * @throws GitError `protocol` unless the text consists of digits and the number is at most `max`.
 */
export function readNumberText(text: string, max: number): number {
  if (!/^\d{1,16}$/.test(text) || Number(text) > max) {
    throw new GitError("protocol", `${JSON.stringify(text)} is not a number up to ${max}`);
  }
  return Number(text);
}
