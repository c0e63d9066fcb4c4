import { malformed } from "../../lib/failure.ts";

const NAME = /^[-_+.A-Za-z0-9]{1,255}$/;
const FILE = /^[-_+=:;.()[\]{}~!@#$%^& A-Za-z0-9]{1,255}$/;

/**
 * SECURITY: names that consist of dots would be steps of a path for clients that store what they
 * download.
 */
const isDots = (text: string): boolean => /^\.+$/.test(text);

/** @throws Failure `malformed` */
export function requireName(name: string): string {
  if (NAME.test(name) && !isDots(name)) return name;
  throw malformed("a name has letters, digits and -_+. only, at most 255");
}

/**
 * A version may have any characters but those that are steps of a path. @throws Failure `malformed`
 */
export function requireVersion(version: string): string {
  const isGood =
    version.length <= 255 && version.trim() === version && !/[\p{Cc}/\\]/u.test(version);
  if (version !== "" && isGood && !isDots(version)) return version;
  throw malformed("a version has at most 255 characters, without slashes, and is not only dots");
}

/** @throws Failure `malformed` */
export function requireFileName(name: string): string {
  if (FILE.test(name) && !isDots(name) && name.trim() === name) return name;
  throw malformed("a file name has letters, digits and -_+=:;.()[]{}~!@#$%^& only, at most 255");
}
