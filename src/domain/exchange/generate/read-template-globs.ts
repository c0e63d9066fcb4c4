import { decodeText, readByteText } from "../../../git/byte-text.ts";
import type { Glob } from "../../../git/glob/match-glob.ts";
import { parseBranchGlob } from "../../../git/glob/branch-glob.ts";

/** Maximum number of patterns that are read; later ones are ignored. */
const GLOBS_MAX = 100;
/** Maximum length of a pattern; a longer one is ignored. */
const GLOB_LENGTH_MAX = 1000;

/**
 * Reads `.gitea/template`: a pattern of paths in each line, where `*` matches no slash; a line that
 * begins with `#` is a comment. Invalid patterns match nothing.
 */
export function readTemplateGlobs(content: Uint8Array): Glob[] {
  const lines = decodeText(readByteText(content))
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#") && line.length <= GLOB_LENGTH_MAX);
  return lines.slice(0, GLOBS_MAX).flatMap((line) => {
    const glob = parseBranchGlob(line, "/");
    return glob ? [glob] : [];
  });
}
