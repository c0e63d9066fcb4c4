import { type ByteText, decodeText, encodeText } from "../../../git/byte-text.ts";
import { isHfsDisguise, isNtfsDisguise } from "../../../git/object/disguise.ts";
import { invalid } from "../../../lib/failure.ts";

/** Common filesystem limits of a path and of a name in it, in bytes. */
const PATH_BYTES_MAX = 4095;
const NAME_BYTES_MAX = 255;

/**
 * Validates a path to write to and splits it into names.
 *
 * SECURITY: nothing is decoded, normalized or resolved: a path must be literally valid on every
 * system, or it is refused. `checkTree` also refuses names that a checkout would treat as the
 * `.git` directory, for pushed trees.
 *
 * @throws Failure `invalid` for a path that is not valid on every system.
 */
export function readTreePath(path: string): ByteText[] {
  if (!path.isWellFormed()) throw refuse(path.toWellFormed());
  return splitTreePath(encodeText(path));
}

/** `readTreePath` for a path in bytes. */
export function splitTreePath(path: ByteText): ByteText[] {
  const names = path.split("/") as ByteText[];
  const isGood = !/[\0\\]/.test(path) && path.length <= PATH_BYTES_MAX && names.every(isName);
  if (!isGood) throw refuse(decodeText(path));
  return names;
}

function refuse(path: string): Error {
  const shown = path.length > 100 ? `${path.slice(0, 100)}…` : path;
  return invalid(`path contains a malformed path component [path: ${shown.toWellFormed()}]`);
}

const isName = (name: ByteText): boolean =>
  name !== "" &&
  name.length <= NAME_BYTES_MAX &&
  name !== "." &&
  name !== ".." &&
  !isHfsDisguise(name, "git") &&
  !isNtfsDisguise(name, "git");
