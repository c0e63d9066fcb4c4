import { malformed } from "../../lib/failure.ts";
import parse from "semver/functions/parse.js";

const NAME = /^[a-z][a-z0-9_-]{0,63}$/i;
const NUMBER = String.raw`(?:0|[1-9]\d{0,15})`;
const PART = String.raw`(?:${NUMBER}|[*xX])`;
const TAGS = String.raw`(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?`;
const COMPARATOR = new RegExp(String.raw`^(?:[<>]=?|[=~^])?\s*${PART}(?:\.${PART}){0,2}${TAGS}$`);
const REQUIREMENT_LENGTH_MAX = 512;

/** The name of a crate as crates.io compares names. */
export const crateKey = (name: string): string => name.toLowerCase().replaceAll("_", "-");

export const isCrateName = (name: string): boolean => NAME.test(name);

/** @throws Failure `malformed` */
export function requireCrateName(name: string): string {
  if (isCrateName(name)) return name;
  throw malformed("package name is invalid");
}

/**
 * Checks a version.
 *
 * @returns The version as versions are compared: without build metadata, in which no two versions
 *   of a crate may differ.
 * @throws Failure `malformed`
 */
export function requireCrateVersion(text: string): string {
  const key = crateVersionKey(text);
  if (key !== undefined) return key;
  throw malformed("package version is invalid");
}

/** The same; undefined for what is no version. */
export function crateVersionKey(text: string): string | undefined {
  const version = parse(text);
  // The parser takes a leading `v` and spaces, which are no part of a version.
  return version && text.startsWith(String(version.major)) && text.trim() === text
    ? version.version
    : undefined;
}

/** Whether a text is a requirement of cargo, as in `>=1.2, <2`. */
export const isRequirement = (text: string): boolean =>
  text.length <= REQUIREMENT_LENGTH_MAX &&
  text.split(",").every((part) => COMPARATOR.test(part.trim()));

/**
 * The path of a crate's file in the index, without the name: `1`, `3/a`, `ab/cd`.
 *
 * @see "Registry Index" of the Cargo Book, "Index files".
 */
export function indexFolderOf(name: string): string {
  const lower = name.toLowerCase();
  if (lower.length < 3) return String(lower.length);
  return lower.length === 3 ? `3/${lower[0]}` : `${lower.slice(0, 2)}/${lower.slice(2, 4)}`;
}
