// Versions in RubyGems' order: a release sorts after its prereleases, which have letters.

const VERSION = /^[0-9]+(?:\.[0-9a-zA-Z]+)*$/;

/** Maximum characters of a version. */
const LENGTH_MAX = 128;

/**
 * Whether `Gem::Version` takes a text for a version. In gems it has turned hyphens into `.pre.`.
 */
export const isGemVersion = (text: string): boolean =>
  text.length <= LENGTH_MAX && VERSION.test(text);

/** Whether a version is a prerelease. */
export const isPrerelease = (version: string): boolean => /[a-z]/i.test(version);

/**
 * The segments by which versions are compared: numbers without leading zeros, and words; without
 * the zeros at the end of the release and of what follows it, so that 1.0 is 1.
 */
function segmentsOf(version: string): string[] {
  const all = version.match(/[0-9]+|[a-z]+/gi) ?? [];
  const segments = all.map((each) => each.replace(/^0+(?=\d)/, ""));
  const wordAt = segments.findIndex((each) => !isNumber(each));
  const at = wordAt < 0 ? segments.length : wordAt;
  return [...withoutZeros(segments.slice(0, at)), ...withoutZeros(segments.slice(at))];
}

const isNumber = (segment: string): boolean => /^[0-9]/.test(segment);

const withoutZeros = (segments: string[]): string[] =>
  segments.slice(0, segments.findLastIndex((each) => each !== "0") + 1);

/** A version in a form that is the same for versions that RubyGems takes for equal. */
export const gemVersionKey = (version: string): string => segmentsOf(version).join(".") || "0";

/** Compares two versions as `Gem::Version#<=>` does. */
export function compareGemVersions(left: string, right: string): number {
  const [lefts, rights] = [segmentsOf(left), segmentsOf(right)];
  for (let at = 0; at < Math.max(lefts.length, rights.length); at++) {
    const order = compareSegments(lefts[at] ?? "0", rights[at] ?? "0");
    if (order !== 0) return order;
  }
  return 0;
}

function compareSegments(left: string, right: string): number {
  if (left === right) return 0;
  if (isNumber(left) !== isNumber(right)) return isNumber(left) ? 1 : -1;
  // Numbers of any length: without leading zeros, the longer one is larger.
  if (isNumber(left) && left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : 1;
}
