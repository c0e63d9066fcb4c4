import { type Budget, UNLIMITED } from "../../../git/budget.ts";
import { type ByteText, decodeText } from "../../../git/byte-text.ts";
import { parseBranchGlob } from "../../../git/glob/branch-glob.ts";
import { type Glob, matchGlob } from "../../../git/glob/match-glob.ts";

/** The characters that make a name a pattern. */
const SPECIAL = /[*?\\[\]{}]/;

/** Whether the name of a rule stands for one branch. */
export const isExactName = (name: string): boolean => !SPECIAL.test(name);

/** Parsed patterns, a cache by separators and text. */
const globs = new Map<string, Glob | undefined>();
const GLOBS_MAX = 500;
/** Maximum length of a pattern, so that the cache is bounded in bytes. */
const LENGTH_MAX = 255;

function globOf(pattern: string, separators: string): Glob | undefined {
  if (pattern.length > LENGTH_MAX) return undefined;
  const key = `${separators} ${pattern}`;
  if (globs.size >= GLOBS_MAX) globs.clear();
  if (!globs.has(key)) globs.set(key, parseBranchGlob(pattern, separators));
  return globs.get(key);
}

/** The separators of names of branches, and of paths. Contexts, tags and repositories have none. */
const IN_BRANCHES = "/";
const IN_PATHS = "./";

export const isBranchPattern = (pattern: string): boolean =>
  globOf(pattern, IN_BRANCHES) !== undefined;

/**
 * Whether the name of a rule matches a branch: an exact one in any case, a pattern as it is
 * written.
 */
export function matchesBranch(name: string, branch: string, budget: Budget = UNLIMITED): boolean {
  if (isExactName(name)) return name.toLowerCase() === branch.toLowerCase();
  const glob = globOf(name, IN_BRANCHES);
  return glob !== undefined && matchGlob(glob, branch, budget);
}

/** Whether a pattern without separators is well-formed, and whether it matches. */
export const isPattern = (pattern: string): boolean => globOf(pattern, "") !== undefined;

export function matchesPattern(pattern: string, text: string, budget: Budget = UNLIMITED): boolean {
  const glob = globOf(pattern, "");
  return glob !== undefined && matchGlob(glob, text, budget);
}

/** The patterns of a list, which semicolons separate. */
export const splitPatterns = (list: string): string[] =>
  list
    .split(";")
    .map((pattern) => pattern.trim())
    .filter((pattern) => pattern !== "");

/** Whether each pattern of a list of paths is well-formed. */
export const arePathPatterns = (list: string): boolean =>
  splitPatterns(list).every((pattern) => globOf(pattern.toLowerCase(), IN_PATHS) !== undefined);

/** Matches a path, in any case. */
export type MatchesPath = (path: ByteText, budget: Budget) => boolean;

/** The matcher for a list of patterns of paths; undefined for an empty list. */
export function pathMatcherOf(list: string): MatchesPath | undefined {
  const patterns = splitPatterns(list.toLowerCase());
  if (patterns.length === 0) return undefined;
  const parsed = patterns.flatMap((pattern) => {
    const glob = globOf(pattern, IN_PATHS);
    return glob ? [glob] : [];
  });
  return (path, budget) => {
    const text = decodeText(path).toLowerCase();
    return parsed.some((glob) => matchGlob(glob, text, budget));
  };
}
