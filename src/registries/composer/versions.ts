/** The normal form of each modifier at the end of a version. */
const STABILITY = new Map([
  ["a", "alpha"],
  ["b", "beta"],
  ["p", "patch"],
  ["pl", "patch"],
  ["rc", "RC"],
]);

/** `-beta.2`, `RC1`, `-dev` and the like. */
const MODIFIER = String.raw`[._-]?(?:(stable|beta|b|rc|alpha|a|patch|pl|p)((?:[.-]?\d+(?:[.-]\d+)*)?))?([.-]?dev)?$`;
const NUMBERS = new RegExp(String.raw`^v?(\d{1,5})(\.\d+)?(\.\d+)?(\.\d+)?${MODIFIER}`, "i");
const DATE = new RegExp(
  String.raw`^v?(\d{4}(?:[.:-]?\d{2}){1,6}(?:[.:-]?\d{1,3}){0,2})${MODIFIER}`,
  "i",
);
const BRANCH = /^v?(\d+)(\.(?:\d+|[x*]))?(\.(?:\d+|[x*]))?(\.(?:\d+|[x*]))?$/i;
const MAIN_BRANCHES = new Set(["master", "trunk", "default"]);

/**
 * Brings a version into the form in which Composer compares versions, such as `1.2.0.0-beta2` for
 * `v1.2b2`.
 *
 * @returns Undefined for what is no version.
 * @see https://getcomposer.org/doc/articles/versions.md
 */
export function normalizeVersion(text: string): string | undefined {
  const version = text
    .trim()
    .replace(/@(?:stable|rc|beta|alpha|dev)$/i, "")
    // Build metadata is not compared.
    .replace(/^([^,\s+]+)\+\S+$/, "$1");
  if (MAIN_BRANCHES.has(version.toLowerCase())) return `dev-${version.toLowerCase()}`;
  if (/^dev-/i.test(version)) {
    const branch = version.slice("dev-".length);
    return isBranchName(branch) ? `dev-${branch}` : undefined;
  }
  return normalizeNumbers(version) ?? normalizeDate(version) ?? normalizeDevBranch(version);
}

/**
 * Whether a normalised version is of the stability `dev`, which Composer reads from a file of its
 * own.
 */
export const isDevVersion = (normalized: string): boolean =>
  normalized.startsWith("dev-") || normalized.endsWith("-dev");

/** A name that git takes for a branch, without white space. */
const isBranchName = (name: string): boolean => /^[^\s~^:?*[\]\\\p{Cc}]{1,200}$/u.test(name);

function normalizeNumbers(version: string): string | undefined {
  const match = NUMBERS.exec(version);
  if (!match) return undefined;
  const [, major = "", minor = ".0", patch = ".0", fourth = ".0", ...modifier] = match;
  return `${major}${minor}${patch}${fourth}${formatModifier(modifier)}`;
}

function normalizeDate(version: string): string | undefined {
  const match = DATE.exec(version);
  if (!match) return undefined;
  const [, date = "", ...modifier] = match;
  return `${date.replaceAll(/\D/g, ".")}${formatModifier(modifier)}`;
}

function formatModifier([name, number = "", dev]: readonly (string | undefined)[]): string {
  const end = dev === undefined ? "" : "-dev";
  const lower = name?.toLowerCase();
  // As Composer does, which reads nothing behind it.
  if (lower === undefined) return end;
  if (lower === "stable") return "";
  return `-${STABILITY.get(lower) ?? lower}${number.replace(/^[.-]+/, "")}${end}`;
}

/** A branch of versions, such as `1.x-dev`. */
function normalizeDevBranch(version: string): string | undefined {
  const branch = /^(.+?)[.-]?dev$/i.exec(version)?.[1];
  const match = branch === undefined ? undefined : BRANCH.exec(branch);
  if (!match) return undefined;
  const parts = [1, 2, 3, 4].map((at) => (match[at] ?? ".x").replace(/[x*]/i, "9999999"));
  return `${parts.join("")}-dev`;
}
