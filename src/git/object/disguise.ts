import type { ByteText } from "../byte-text.ts";

/** Names of git's own, without the dot, that other names can resolve to on some file systems. */
export type DotName = "git" | "gitmodules" | "gitattributes" | "gitignore" | "mailmap";

// Prefixes of the short names that NTFS derives from a hash when the plain short names are taken.
const NTFS_HASHED: Readonly<Record<DotName, string>> = {
  git: "",
  gitmodules: "gi7eba",
  gitattributes: "gi7d29",
  gitignore: "gi250a",
  mailmap: "maba30",
};

// Characters that HFS+ ignores when it compares names: zero-width and direction marks, in UTF-8.
const HFS_IGNORED = /\xe2\x80[\x8c-\x8f\xaa-\xae]|\xe2\x81[\xaa-\xaf]|\xef\xbb\xbf/g;

/**
 * True if HFS+ resolves `name` to `.<dotName>`: it ignores case and invisible characters.
 *
 * @see CVE-2014-9390.
 */
export function isHfsDisguise(name: ByteText, dotName: DotName): boolean {
  const seen = name.replaceAll(HFS_IGNORED, "").toLowerCase();
  return seen === `.${dotName}` || seen.startsWith(`.${dotName}/`);
}

/**
 * True if NTFS resolves `name` to `.<dotName>`: it ignores case and trailing spaces and dots, cuts
 * alternate streams after a colon, and accepts short names of eight characters.
 *
 * @see CVE-2014-9390, CVE-2019-1352, CVE-2019-1353.
 */
export function isNtfsDisguise(name: ByteText, dotName: DotName): boolean {
  const lower = asciiLowerCase(name);
  if (dotName === "git") {
    return /^(?:\.git|git~1)[ .]*(?:$|[\\/:])/.test(lower);
  }
  if (lower.startsWith(`.${dotName}`) && isNtfsTail(lower, dotName.length + 1)) return true;
  const short = `${dotName.slice(0, 6)}~`;
  if (lower.startsWith(short) && /[1-4]/.test(lower.charAt(7)) && isNtfsTail(lower, 8)) return true;
  return isNtfsHashed(lower, NTFS_HASHED[dotName]) && isNtfsTail(lower, 8);
}

/** True for a short name of eight characters: a prefix of `hashed`, a tilde and a number. */
function isNtfsHashed(lower: string, hashed: string): boolean {
  const match = /^([^~]{0,6})~([1-9][0-9]*)$/.exec(lower.slice(0, 8));
  return match !== null && lower.length >= 8 && hashed.startsWith(match[1] as string);
}

function isNtfsTail(lower: string, start: number): boolean {
  return /^[ .]*(?:$|:)/.test(lower.slice(start));
}

function asciiLowerCase(text: string): string {
  return text.replaceAll(/[A-Z]/g, (char) => char.toLowerCase());
}
