import { GitError } from "../error.ts";
import { isOid, type Oid } from "../oid.ts";

/**
 * An object id in a message.
 *
 * @throws GitError `protocol` if it is none: other lengths belong to another hash.
 */
export function readOidText(text: string): Oid {
  if (!isOid(text)) throw new GitError("protocol", `${JSON.stringify(text)} is not an object id`);
  return text;
}

/**
 * A whole number in a message.
 *
 * @throws GitError `protocol` unless it is written in digits and at most `max`.
 */
export function readNumberText(text: string, max: number): number {
  if (!/^\d{1,16}$/.test(text) || Number(text) > max) {
    throw new GitError("protocol", `${JSON.stringify(text)} is not a number up to ${max}`);
  }
  return Number(text);
}
