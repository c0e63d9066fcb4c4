import { malformed } from "../../lib/failure.ts";
import {
  formatPythonVersion,
  keyOfPythonVersion,
  parsePythonVersion,
  type PythonVersion,
} from "./versions.ts";

const NAME = /^(?:[a-z0-9]|[a-z0-9][a-z0-9._-]{0,253}[a-z0-9])$/i;
const FILE = /^[a-z0-9][a-z0-9._+!-]{0,254}$/i;
const WHEEL_TAGS = /^(?:\d[^-]*-)?[a-z0-9_.]+-[a-z0-9_.]+-[a-z0-9_.]+$/i;

/** The parts of a file's name. */
export interface DistributionName {
  readonly filetype: "bdist_wheel" | "sdist";
  readonly format: "whl" | "tar.gz" | "zip";
  /** The name without its ending. */
  readonly stem: string;
  /** The tags of a wheel, as in `py3-none-any`; "source" for a source distribution. */
  readonly pythonVersion: string;
}

/** The name of a project as names are compared. @see "Names and normalization" (PEP 503). */
export const normalizeProjectName = (name: string): string =>
  name.toLowerCase().replaceAll(/[-_.]+/g, "-");

/** Whether a text can be the name of a project. */
export const isProjectName = (name: string): boolean => NAME.test(name);

/** The version of an upload, parsed. @throws Failure `malformed` */
export function requirePythonVersion(text: string): PythonVersion {
  const version = parsePythonVersion(text);
  if (!version) throw malformed("invalid name or version");
  return version;
}

/** A version as the registry compares it; the text itself if it is none, which nothing has. */
export function pythonVersionKey(text: string): string {
  const version = parsePythonVersion(text);
  return version ? keyOfPythonVersion(version) : text;
}

/**
 * Checks the name of a file against the project and version that it is uploaded for.
 *
 * @throws Failure `malformed` for a name that is neither of a wheel nor of a source distribution,
 * or of another project or version.
 * @see "Binary distribution format" (PEP 427) and "Source distribution file name" (PEP 625). Older
 * names of source distributions, which spell the project otherwise, are good as well.
 */
export function requireDistributionName(
  file: string,
  nameKey: string,
  version: PythonVersion,
): DistributionName {
  if (!FILE.test(file)) throw malformed("the file's name has characters that it must not have");
  const key = keyOfPythonVersion(version);
  const isVersion = (text: string): boolean => pythonVersionKey(text) === key;
  if (file.endsWith(".whl")) {
    const stem = file.slice(0, -".whl".length);
    const [, name = "", wheelVersion = "", tags = ""] = /^([^-]+)-([^-]+)-(.+)$/.exec(stem) ?? [];
    const isGood =
      WHEEL_TAGS.test(tags) &&
      normalizeProjectName(name) === nameKey &&
      // An epoch and a local part are written with underscores.
      (isVersion(wheelVersion) || formatInWheel(version) === wheelVersion);
    if (!isGood) throw malformed("the wheel's name is not that of this project and version");
    const [python = ""] = tags.split("-").slice(-3);
    return { filetype: "bdist_wheel", format: "whl", stem, pythonVersion: python };
  }
  const [, stem = "", format = ""] = /^(.+)\.(tar\.gz|zip)$/.exec(file) ?? [];
  const dashes = [...stem.matchAll(/-/g)].map(({ index }) => index);
  const isGood = dashes.some(
    (at) => normalizeProjectName(stem.slice(0, at)) === nameKey && isVersion(stem.slice(at + 1)),
  );
  if (!isGood) {
    throw malformed(
      "the file's name is not that of a wheel or source distribution of this version",
    );
  }
  return {
    filetype: "sdist",
    format: format as "tar.gz" | "zip",
    stem,
    pythonVersion: "source",
  };
}

const formatInWheel = (version: PythonVersion): string =>
  formatPythonVersion(version).replaceAll(/[!+-]/g, "_");
