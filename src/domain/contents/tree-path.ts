import { type ByteText, encodeText } from "../../git/byte-text.ts";
import { isHfsDisguise, isNtfsDisguise } from "../../git/object/disguise.ts";
import { invalid } from "../../lib/failure.ts";

/** What systems take for a path and for a name in it at most, in bytes. */
const PATH_BYTES_MAX = 4095;
const NAME_BYTES_MAX = 255;

/**
 * The names of a path at which something is to be written.
 *
 * SECURITY: nothing is decoded, cleaned or resolved here: a path is either one that every system
 * reads as it stands, or refused. What a checkout would take for git's own directory is in `checkTree`
 * too, for whatever comes in by a push.
 *
 * @throws Failure `invalid`.
 */
export function readTreePath(path: string): ByteText[] {
  const names = path.split("/").map(encodeText);
  const bytes = names.reduce((sum, name) => sum + name.length + 1, -1);
  const isGood =
    path.isWellFormed() &&
    !/[\0\\]/.test(path) &&
    bytes <= PATH_BYTES_MAX &&
    names.every((name) => name.length <= NAME_BYTES_MAX && isName(name));
  if (!isGood) {
    const shown = path.length > 100 ? `${path.slice(0, 100)}…` : path;
    throw invalid(`path contains a malformed path component [path: ${shown.toWellFormed()}]`);
  }
  return names;
}

const isName = (name: ByteText): boolean =>
  name !== "" &&
  name !== "." &&
  name !== ".." &&
  !isHfsDisguise(name, "git") &&
  !isNtfsDisguise(name, "git");
