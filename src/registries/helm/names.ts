import parseSemver from "semver/functions/parse.js";
import rcompare from "semver/functions/rcompare.js";

import { malformed } from "../../lib/failure.ts";

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,249}$/;
const VERSION_LENGTH_MAX = 250;

/** A chart of a version. */
export interface ChartKey {
  readonly name: string;
  readonly version: string;
}

/** Whether a text may be the name of a chart, which is the folder into which it is unpacked. */
const isChartName = (name: string): boolean => NAME.test(name);

/** A version as Helm takes it, by its numbers and what follows them. */
const VERSION = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?([-+].*)?$/;

/**
 * The version of Semantic Versioning for which Helm takes a text: one that may have `v` before it,
 * fewer than three numbers, and zeros before a number.
 *
 * @returns Undefined if Helm takes it for none. Helm also takes numbers above 2^53.
 * @see github.com/Masterminds/semver, `NewVersion`.
 */
function semanticVersionOf(version: string): string | undefined {
  const [isMatch, major = "", minor = "", patch = "", rest = ""] = VERSION.exec(version) ?? [];
  if (isMatch === undefined || version.length > VERSION_LENGTH_MAX) return undefined;
  const numbers = [major, minor, patch].map((each) => each.replace(/^0+(?=\d)/, "") || "0");
  const strict = `${numbers.join(".")}${rest}`;
  return /\s/.test(rest) || parseSemver(strict) === null ? undefined : strict;
}

const isChartVersion = (version: string): boolean => semanticVersionOf(version) !== undefined;

/** Compares versions of charts, the highest first. */
export const compareChartVersions = (a: string, b: string): number =>
  rcompare(semanticVersionOf(a) ?? a, semanticVersionOf(b) ?? b);

/** @throws Failure `malformed` */
export function requireChartKey({ name, version }: ChartKey): ChartKey {
  if (!isChartName(name)) throw malformed("the name of the chart is invalid");
  if (!isChartVersion(version)) throw malformed("the version of the chart is invalid");
  return { name, version };
}

export const chartFileName = ({ name, version }: ChartKey): string => `${name}-${version}.tgz`;

/**
 * The charts that a file may be of, by its name: `a-1.0.0-1.0.0.tgz` is of version 1.0.0 of
 * `a-1.0.0`, or of version 1.0.0-1.0.0 of `a`.
 *
 * @param file The name of the archive, without `.prov`.
 */
export function chartsOfFile(file: string): ChartKey[] {
  if (!file.endsWith(".tgz")) return [];
  const stem = file.slice(0, -".tgz".length);
  const dashes = Array.from(stem.matchAll(/-/g), ({ index }) => index);
  return dashes
    .map((at) => ({ name: stem.slice(0, at), version: stem.slice(at + 1) }))
    .filter(({ name, version }) => isChartName(name) && isChartVersion(version));
}
