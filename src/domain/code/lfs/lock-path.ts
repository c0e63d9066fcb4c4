import { invalid } from "../../../lib/failure.ts";

/** Maximum characters of a path. */
const PATH_CHARS_MAX = 4096;

/**
 * Normalizes a path for locking: relative to the repository root, with single slashes between
 * names.
 *
 * @throws Failure `invalid` for a path that can't be a file in a repository.
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
