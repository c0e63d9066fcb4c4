/** A version of a NuGet package. */
export interface NugetVersion {
  /** Four numbers, without leading zeros. */
  readonly numbers: readonly string[];
  /** Labels of a prerelease; none of a release. */
  readonly labels: readonly string[];
  /**
   * The version as indexes show it: three numbers, or four if the last one is not 0, and the
   * labels.
   */
  readonly normalized: string;
  /** The same with its build metadata. */
  readonly full: string;
  /** Whether only clients that know SemVer 2 can read it. */
  readonly isSemVer2: boolean;
}

const LENGTH_MAX = 128;
const VERSION =
  /^(\d+(?:\.\d+){0,3})(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/;

/**
 * Reads a version such as `1.0.0-beta.1+build`, or `1.2` for 1.2.0.
 *
 * @returns Undefined for what is no version.
 * @see https://learn.microsoft.com/nuget/concepts/package-versioning
 */
export function parseNugetVersion(text: string): NugetVersion | undefined {
  const [, main, release, metadata] = (text.length <= LENGTH_MAX && VERSION.exec(text)) || [];
  if (main === undefined) return undefined;
  const given = main.split(".").map((number) => number.replace(/^0+(?=\d)/, ""));
  const numbers = [...given, "0", "0", "0"].slice(0, 4);
  const labels = release?.split(".") ?? [];
  const shown = numbers[3] === "0" ? numbers.slice(0, 3) : numbers;
  const normalized = shown.join(".") + (release === undefined ? "" : `-${release}`);
  return {
    numbers,
    labels,
    normalized,
    full: normalized + (metadata === undefined ? "" : `+${metadata}`),
    isSemVer2: labels.length > 1 || metadata !== undefined,
  };
}

/**
 * A version in a form that is the same for versions that NuGet takes for equal: without regard to
 * case and metadata.
 */
export const nugetVersionKey = ({ normalized }: NugetVersion): string => normalized.toLowerCase();

export const isNugetPrerelease = ({ labels }: NugetVersion): boolean => labels.length > 0;

/**
 * Compares two versions as NuGet does: by SemVer 2, with four numbers, and without regard to case.
 */
export function compareNugetVersions(left: NugetVersion, right: NugetVersion): number {
  for (const [at, number] of left.numbers.entries()) {
    const order = compareNumbers(number, right.numbers[at] ?? "0");
    if (order !== 0) return order;
  }
  if (left.labels.length === 0 || right.labels.length === 0) {
    return right.labels.length - left.labels.length;
  }
  for (let at = 0; at < Math.min(left.labels.length, right.labels.length); at++) {
    const order = compareLabels(left.labels[at] ?? "", right.labels[at] ?? "");
    if (order !== 0) return order;
  }
  return left.labels.length - right.labels.length;
}

/** Numbers of any length, without leading zeros. */
function compareNumbers(left: string, right: string): number {
  if (left === right) return 0;
  if (left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : 1;
}

function compareLabels(left: string, right: string): number {
  const [isLeft, isRight] = [/^\d+$/.test(left), /^\d+$/.test(right)];
  if (isLeft && isRight) {
    return compareNumbers(left.replace(/^0+(?=\d)/, ""), right.replace(/^0+(?=\d)/, ""));
  }
  if (isLeft !== isRight) return isLeft ? -1 : 1;
  const [a, b] = [left.toUpperCase(), right.toUpperCase()];
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
