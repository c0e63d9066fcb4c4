/** A version of the Python ecosystem, in its parts. */
export interface PythonVersion {
  readonly epoch: number;
  readonly release: readonly number[];
  readonly pre: readonly ["a" | "b" | "rc", number] | undefined;
  readonly post: number | undefined;
  readonly dev: number | undefined;
  readonly local: readonly (string | number)[];
}

const LENGTH_MAX = 128;
/** Longer numbers lose digits. */
const NUMBER = String.raw`\d{1,15}`;

const VERSION = new RegExp(
  [
    "^v?",
    `(?:(?<epoch>${NUMBER})!)?`,
    String.raw`(?<release>${NUMBER}(?:\.${NUMBER})*)`,
    `(?:[-_.]?(?<pre>alpha|beta|preview|pre|rc|a|b|c)[-_.]?(?<preNumber>${NUMBER})?)?`,
    `(?:-(?<bare>${NUMBER})|(?<post>[-_.]?(?:post|rev|r)[-_.]?(?<postNumber>${NUMBER})?))?`,
    `(?<dev>[-_.]?dev[-_.]?(?<devNumber>${NUMBER})?)?`,
    String.raw`(?:\+(?<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?$`,
  ].join(""),
  "i",
);

const PRE = {
  a: "a",
  alpha: "a",
  b: "b",
  beta: "b",
  c: "rc",
  rc: "rc",
  pre: "rc",
  preview: "rc",
} as const;

/**
 * Parses a version in any of its spellings.
 *
 * @returns Undefined for what is none, and for numbers of more than 15 digits.
 * @see "Version specifiers" of the Python packaging specifications (PEP 440), appendix with the
 *   regular expression.
 */
export function parsePythonVersion(text: string): PythonVersion | undefined {
  if (text.length > LENGTH_MAX) return undefined;
  const { groups } = VERSION.exec(text.trim()) ?? {};
  if (!groups) return undefined;
  const { epoch, release = "", pre, preNumber, bare, post, postNumber, dev, devNumber } = groups;
  const letter = pre && PRE[pre.toLowerCase() as keyof typeof PRE];
  const local = groups["local"]?.toLowerCase().split(/[-_.]/) ?? [];
  return {
    epoch: Number(epoch ?? 0),
    release: release.split(".").map(Number),
    pre: letter ? [letter, Number(preNumber ?? 0)] : undefined,
    post: bare === undefined && post === undefined ? undefined : Number(bare ?? postNumber ?? 0),
    dev: dev === undefined ? undefined : Number(devNumber ?? 0),
    local: local.map((part) => (/^\d{1,15}$/.test(part) ? Number(part) : part)),
  };
}

/** The normal form of a version. */
export function formatPythonVersion({
  epoch,
  release,
  pre,
  post,
  dev,
  local,
}: PythonVersion): string {
  return [
    epoch === 0 ? "" : `${epoch}!`,
    release.join("."),
    pre?.join("") ?? "",
    post === undefined ? "" : `.post${post}`,
    dev === undefined ? "" : `.dev${dev}`,
    local.length === 0 ? "" : `+${local.join(".")}`,
  ].join("");
}

/** The same text for all versions that are equal: `1.0` and `1.0.0` are. */
export const keyOfPythonVersion = (version: PythonVersion): string =>
  formatPythonVersion({ ...version, release: withoutZeros(version.release) });

/**
 * Whether it is one that installers take only if nothing else is there, or if they are asked to.
 */
export const isPreRelease = ({ pre, dev }: PythonVersion): boolean =>
  pre !== undefined || dev !== undefined;

/** Orders versions, older ones first. @returns A number below, above or equal to zero. */
export function comparePythonVersions(a: PythonVersion, b: PythonVersion): number {
  return compareLists(orderOf(a), orderOf(b)) || compareLocals(a.local, b.local);
}

function withoutZeros(release: readonly number[]): readonly number[] {
  const last = release.findLastIndex((number) => number !== 0);
  return release.slice(0, Math.max(1, last + 1));
}

const FIRST = Number.NEGATIVE_INFINITY;
const LAST = Number.POSITIVE_INFINITY;

/** Numbers that compare as the public part of the version does. */
function orderOf({ epoch, release, pre, post, dev }: PythonVersion): number[] {
  // A version without a pre-release comes after those with one; a development release of it before
  // them.
  const isDevOnly = pre === undefined && post === undefined && dev !== undefined;
  const letter = pre ? ["a", "b", "rc"].indexOf(pre[0]) : isDevOnly ? FIRST : LAST;
  const numbers = withoutZeros(release);
  return [
    epoch,
    ...numbers,
    // Ends the list of numbers: a longer list goes on with a number of at least 0.
    -1,
    letter,
    pre?.[1] ?? 0,
    post ?? FIRST,
    dev ?? LAST,
  ];
}

function compareLists(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((number, index) => number !== b[index]);
  if (at < 0) return 0;
  return (a[at] as number) < (b[at] ?? FIRST) ? -1 : 1;
}

/** Numbers come after words, and more parts after fewer. */
function compareLocals(a: PythonVersion["local"], b: PythonVersion["local"]): number {
  for (const [at, left] of a.entries()) {
    const right = b[at];
    if (right === undefined) return 1;
    if (left === right) continue;
    if (typeof left !== typeof right) return typeof left === "number" ? 1 : -1;
    return left < right ? -1 : 1;
  }
  return a.length - b.length;
}
