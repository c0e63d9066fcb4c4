import compare from "semver/functions/compare.js";
import parse from "semver/functions/parse.js";

const PATH_LENGTH_MAX = 255;
const VERSION_LENGTH_MAX = 128;
const MODULE_ELEMENT = /^[A-Za-z0-9_~-](?:[A-Za-z0-9._~-]*[A-Za-z0-9_~-])?$/;
const DOMAIN = /^(?=.*\.)[a-z0-9.][a-z0-9.-]*$/;
const FILE_ELEMENT =
  /^[\p{L}\p{Nd}!"#$%&()+,\-.=@[\]^_{}~ ]*[\p{L}\p{Nd}!"#$%&()+,\-=@[\]^_{}~ ]$/u;
/** Names that Windows keeps for devices, whatever ending follows. */
const DEVICE = /^(?:con|prn|aux|nul|com[1-9]|lpt[1-9])(?:\.|$)/i;
/** Short names of Windows, as in `progra~1`. */
const SHORT_NAME = /~\d+(?:\.|$)/;

const PSEUDO_VERSION =
  /^v\d+\.(?:0\.0-|\d+\.\d+-(?:[^+]*\.)?0\.)\d{14}-[A-Za-z0-9]+(?:\+incompatible)?$/;
const INCOMPATIBLE = "+incompatible";

/**
 * Whether a text is the path of a module that can be downloaded.
 *
 * @see golang.org/x/mod/module, `CheckPath`.
 */
export function isModulePath(path: string): boolean {
  const elements = path.split("/");
  return (
    path.length <= PATH_LENGTH_MAX &&
    DOMAIN.test(elements[0] ?? "") &&
    elements.every(
      (element) =>
        MODULE_ELEMENT.test(element) && !DEVICE.test(element) && !SHORT_NAME.test(element),
    ) &&
    majorOfPath(path) !== undefined
  );
}

/**
 * Whether a path can be that of a file in a module. @see golang.org/x/mod/module, `CheckFilePath`.
 */
export const isModuleFilePath = (path: string): boolean =>
  path.split("/").every((element) => FILE_ELEMENT.test(element) && !DEVICE.test(element));

/**
 * Whether a version is canonical and one of the module: its major version is that of the path.
 *
 * @see golang.org/x/mod/module, `Check`.
 */
export function isModuleVersion(path: string, version: string): boolean {
  if (version.length > VERSION_LENGTH_MAX) return false;
  const isIncompatible = version.endsWith(INCOMPATIBLE);
  const bare = isIncompatible ? version.slice(0, -INCOMPATIBLE.length) : version;
  const parsed = parse(bare);
  if (!parsed || bare !== `v${parsed.version}`) return false;
  const major = majorOfPath(path);
  if (path.startsWith("gopkg.in/")) {
    return !isIncompatible && (parsed.major === major || bare.startsWith("v0.0.0-"));
  }
  if (major === 0) return isIncompatible ? parsed.major >= 2 : parsed.major < 2;
  return !isIncompatible && parsed.major === major;
}

/**
 * The major version that the end of a path names, as in `/v2`; 0 if it names none, which stands for
 * 0 and 1; undefined if the end is not well-formed.
 */
function majorOfPath(path: string): number | undefined {
  if (path.startsWith("gopkg.in/")) {
    const [, major] = /\.v(0|[1-9]\d{0,8})(?:-unstable)?$/.exec(path) ?? [];
    return major === undefined ? undefined : Number(major);
  }
  const [, text] = /\/v([\d.]+)$/.exec(path) ?? [];
  if (text === undefined) return 0;
  return /^(?:[2-9]|[1-9]\d{1,8})$/.test(text) ? Number(text) : undefined;
}

/** Whether a version stands for a commit without a tag. */
export const isPseudoVersion = (version: string): boolean => PSEUDO_VERSION.test(version);

/** Orders versions, older ones first. */
export const compareModuleVersions = (a: string, b: string): number => compare(a, b);

/**
 * The version that a module shows: the newest release, or else the newest pre-release, or else the
 * newest commit.
 *
 * @see "Go Modules Reference", "GOPROXY protocol", `$module/@latest`.
 */
export function latestModuleVersion(versions: readonly string[]): string | undefined {
  const rank = (version: string): number => {
    if (isPseudoVersion(version)) return 0;
    return parse(version)?.prerelease.length ? 1 : 2;
  };
  return versions.toSorted((a, b) => rank(b) - rank(a) || compareModuleVersions(b, a))[0];
}

/**
 * Reads a path or version as requests spell it: an exclamation mark stands before a letter that is
 * a capital.
 *
 * @returns Undefined for a text that is not so spelled.
 * @see golang.org/x/mod/module, `UnescapePath`.
 */
export function unescapeModuleText(text: string): string | undefined {
  if (/[A-Z]|!(?![a-z])/.test(text)) return undefined;
  return text.replaceAll(/!([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
