import type { ByteText } from "./byte-text.ts";

/**
 * True if git accepts `name` as the full name of a ref, such as `refs/heads/main`.
 *
 * SECURITY: every ref name from a push or an API request is checked here before it is stored or compared;
 * a client's command line would interpret a name that starts with a dash as an option.
 *
 * @see git-check-ref-format(1), all of whose rules are implemented.
 */
export function isRefName(name: ByteText | string): boolean {
  if (!name.includes("/") || name.startsWith("-")) return false;
  return isRefNameFormat(name);
}

/**
 * Like `isRefName`, but a slash is not required: the names that `git check-ref-format --allow-onelevel`
 * accepts.
 */
export function isRefNameFormat(name: ByteText | string): boolean {
  if (name === "" || name === "@" || name.endsWith(".") || name.includes("@{")) return false;
  if (name.includes("..") || hasForbiddenChar(name)) return false;
  return name
    .split("/")
    .every((part) => part !== "" && !part.startsWith(".") && !part.endsWith(".lock"));
}

function hasForbiddenChar(name: string): boolean {
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at);
    if (code <= 0x20 || code === 0x7f || "~^:?*[\\".includes(name.charAt(at))) return true;
  }
  return false;
}
