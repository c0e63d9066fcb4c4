import { malformed } from "../../../lib/failure.ts";

/** Maximum characters of a name and of a path. */
const NAME_LENGTH_MAX = 255;
const PATH_LENGTH_MAX = 1024;

/** Control characters, and those that some file system refuses: the field's clients do, too. */
// oxlint-disable-next-line no-control-regex
const UNSAFE = /[\u0000-\u001F\u007F"*:<>?|/\\]/;

/**
 * Checks the name of an artifact, which is also that of a file or folder where it is unpacked.
 *
 * @throws Failure `malformed`.
 */
export function requireArtifactName(name: string): void {
  if (!isFileName(name) || name.length > NAME_LENGTH_MAX) {
    throw malformed(
      `the name of an artifact has 1 to ${NAME_LENGTH_MAX} characters, is not . or .., and has no ` +
        `control character and none of " * : < > ? | / \\`,
    );
  }
}

/**
 * The path of a file of an artifact, relative to it.
 *
 * SECURITY: whoever unpacks the artifact writes to this path.
 *
 * @param itemPath As clients send it: it begins with the artifact's name, and may have backslashes.
 * @throws Failure `malformed`.
 */
export function readItemPath(name: string, itemPath: string): string {
  const [first, ...names] = itemPath.replaceAll("\\", "/").split("/");
  const isPath = first === name && names.length > 0 && names.every(isFileName);
  if (!isPath || itemPath.length > PATH_LENGTH_MAX) {
    throw malformed(
      `the path of a file has at most ${PATH_LENGTH_MAX} characters, begins with the artifact's ` +
        "name, and consists of names of files",
    );
  }
  return names.join("/");
}

const isFileName = (name: string): boolean =>
  name !== "" && name !== "." && name !== ".." && !UNSAFE.test(name) && name.isWellFormed();
