import { invalid } from "../../lib/failure.ts";

/** Characters of a path at most. */
const PATH_CHARS_MAX = 4096;

/**
 * A path as it is locked: names with one slash between them, from the root of the repository.
 *
 * @throws Failure `invalid` for what is no path of a file in a repository.
 */
export function normalizeLockPath(path: string): string {
  if (path.length > PATH_CHARS_MAX) throw invalid("the path is too long");
  if (path.includes("\0")) throw invalid("a path holds no NUL");
  if (!path.isWellFormed()) throw invalid("the path is no text");
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  if (names.includes("..")) throw invalid("a path does not lead out of the repository");
  if (names.length === 0) throw invalid("a path is needed");
  return names.join("/");
}
