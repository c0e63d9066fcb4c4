import { malformed } from "../../lib/failure.ts";

// https://www.debian.org/doc/debian-policy/ch-controlfields.html

const PACKAGE = /^[a-z0-9][a-z0-9+.-]{1,127}$/;
const VERSION = /^(?:\d{1,9}:)?\d[A-Za-z0-9.+~-]{0,127}$/;
const ARCHITECTURE = /^[a-z0-9][a-z0-9-]{0,63}$/;
/** A distribution or a component: one segment of a path. */
const SEGMENT = /^[A-Za-z0-9][A-Za-z0-9._~+-]{0,99}$/;

export const isDebianName = (text: string): boolean => PACKAGE.test(text);
export const isDebianVersion = (text: string): boolean => VERSION.test(text);
/** One that a package can have: `any` and the like are patterns of sources. */
export const isArchitecture = (text: string): boolean =>
  ARCHITECTURE.test(text) && text !== "any" && !text.startsWith("any-") && text !== "source";

/** Where a package is listed. */
export interface Place {
  readonly distribution: string;
  readonly component: string;
}

/** @throws Failure `malformed` */
export function requirePlace(distribution: string, component: string): Place {
  if (SEGMENT.test(distribution) && SEGMENT.test(component)) return { distribution, component };
  throw malformed("a distribution and a component have letters, digits and ._~+- only");
}

export const isSegment = (text: string): boolean => SEGMENT.test(text);

/** The key that distinguishes files of one name in several places. */
export const placeKeyOf = ({ distribution, component }: Place): string =>
  `${distribution}|${component}`;

/** The name of a binary package. */
export interface BinaryName {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
}

export const debFileNameOf = ({ name, version, architecture }: BinaryName): string =>
  `${name}_${version}_${architecture}.deb`;

/** The parts of a file name; undefined if it is none of a package. */
export function parseFileName(file: string): BinaryName | undefined {
  const match = /^([^_]+)_([^_]+)_([^_]+)\.deb$/.exec(file);
  if (!match) return undefined;
  const [, name = "", version = "", architecture = ""] = match;
  return { name, version, architecture };
}
