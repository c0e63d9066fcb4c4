import { type ByteText, decodeText } from "./byte-text.ts";
import { isWholeId } from "./oid.ts";

/**
 * True if git accepts `name` as the full name of a ref, such as `refs/heads/main`.
 *
 * SECURITY: every ref name from a push or an API request is checked here, and by `findMisleading`,
 * before it is stored.
 *
 * @see git-check-ref-format(1), all of whose rules are implemented.
 */
export function isRefName(name: ByteText | string): boolean {
  if (!name.includes("/") || name.startsWith("-")) return false;
  return isRefNameFormat(name);
}

/**
 * Like `isRefName`, but a slash is not required: the names that
 * `git check-ref-format --allow-onelevel` accepts.
 */
export function isRefNameFormat(name: ByteText | string): boolean {
  if (name === "" || name === "@" || name.endsWith(".") || name.includes("@{")) return false;
  if (name.includes("..") || hasForbiddenChar(name)) return false;
  return name
    .split("/")
    .every((part) => part !== "" && !part.startsWith(".") && !part.endsWith(".lock"));
}

/**
 * Why a ref of this name would mislead people or programs, though git allows it; undefined for any
 * other name.
 *
 * SECURITY: a branch named like an object id would be mistaken for the commit of that id, in a
 * pinned build for example; a dash would begin an option on a command line; a terminal obeys
 * control characters, and bidirectional ones show a name in another order than it has.
 *
 * Names like ids are refused where git looks up short names; elsewhere, as in `refs/replace/`, git
 * itself uses them.
 *
 * @param name A full name, such as `refs/heads/main`.
 * @see gitrevisions(7), on the places where a short name is looked up.
 */
export function findMisleading(name: ByteText): string | undefined {
  const shortName = name.replace(/^refs\/(?:(?:heads|tags|remotes)\/)?/, "");
  if (isWholeId(shortName)) return "a name of 40 or 64 hex digits is reserved for object ids";
  if (/^refs\/(?:[^/]+\/)?-/.test(name)) return "a name can't begin with a dash";
  if (MISLEADING_CHARS.test(decodeText(name))) {
    return "a name can't contain control or bidirectional characters";
  }
  return undefined;
}

const MISLEADING_CHARS = /[\p{Cc}\p{Bidi_Control}]/u;

function hasForbiddenChar(name: string): boolean {
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at);
    if (code <= 0x20 || code === 0x7f || "~^:?*[\\".includes(name.charAt(at))) return true;
  }
  return false;
}
