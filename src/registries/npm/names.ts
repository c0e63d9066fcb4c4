import validRange from "semver/ranges/valid.js";
import parseSemver from "semver/functions/parse.js";

import { malformed } from "../../lib/failure.ts";

/**
 * Names as npm allows them for new packages. npm also refuses names of Node's own modules; they do
 * no harm here.
 *
 * @see docs.npmjs.com/cli/configuring-npm/package-json, "name".
 */
const NAME = /^(?:@[a-z0-9-~][a-z0-9-._~]*\/)?[a-z0-9-~][a-z0-9-._~]*$/;
const NAME_LENGTH_MAX = 214;
/** `-` begins the registry's own paths. */
const RESERVED = new Set(["-", "node_modules", "favicon.ico"]);

/** Maximum length of a version, that of npm's parser. */
const VERSION_LENGTH_MAX = 256;
const TAG_LENGTH_MAX = 128;

/** @throws Failure `malformed` */
export function requireNpmName(name: string): string {
  if (NAME.test(name) && name.length <= NAME_LENGTH_MAX && !RESERVED.has(name)) return name;
  throw malformed("package name is invalid");
}

/**
 * The form in which versions are compared: without build metadata, which npm ignores.
 *
 * @returns Undefined if it is not a version of Semantic Versioning.
 */
export function versionKeyOf(version: string): string | undefined {
  if (version.length > VERSION_LENGTH_MAX) return undefined;
  const parsed = parseSemver(version);
  // The parser also takes `v1.0.0` and blanks.
  return parsed && version.split("+")[0] === parsed.version ? parsed.version : undefined;
}

/** The tag of the version that is installed unless another one is asked for. */
export const LATEST = "latest";

/**
 * Whether a text may be a dist-tag: none that could be a range of versions, as npm resolves both in
 * one place.
 */
const isTag = (tag: string): boolean =>
  tag !== "" &&
  tag.length <= TAG_LENGTH_MAX &&
  encodeURIComponent(tag) === tag &&
  validRange(tag) === null;

/** @throws Failure `malformed` */
export function requireDistTag(tag: string): string {
  if (isTag(tag)) return tag;
  throw malformed("The tag name is invalid");
}

/** The name without its scope, with which the files of a package begin. */
export const unscoped = (name: string): string => name.slice(name.indexOf("/") + 1);

/** The scope of a name without `@`; undefined if it has none. */
export const npmScopeOf = (name: string): string | undefined => /^@([^/]+)\//.exec(name)?.[1];
