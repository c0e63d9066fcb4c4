import type { ByteText } from "../../../git/byte-text.ts";
import { GitError } from "../../../git/error.ts";
import { resident } from "../../../git/catalog/block-pool.ts";
import { bestPaths, type ScoredPath, scorePath, toPathQuery } from "../../../lib/path-score.ts";
import { pause } from "../../../lib/time-slice.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import type { Listed } from "../../slice.ts";
import type { Revision } from "../git/find-revision.ts";
import { walkFiles } from "./walk-files.ts";

/** Maximum paths of a list, and their characters together. */
const PATHS_MAX = 50_000;
const CHARS_MAX = 4 * 1024 * 1024;

/** Steps to list a path, and to compare one with a query. */
const STEPS_PER_PATH = 50;
const STEPS_PER_SCORE = 100;

/** Paths that are compared before others may run. */
const SCORED_TOGETHER = 500;

/** The files of a tree by their paths. */
export interface PathList {
  /** In the order of the tree. */
  readonly paths: readonly string[];
  /** False if the tree has more files than are listed. */
  readonly isComplete: boolean;
}

/** The end of a cached list that is not complete; each path ends with NUL. */
const CUT = "-";

/**
 * Lists the paths of all files of a commit, up to 50,000.
 *
 * Cost: a read per directory, within the budget of a result; the list is cached by the tree.
 */
export async function listPaths(repository: OpenRepository, { node }: Revision): Promise<PathList> {
  const { catalog, graph, results, objects } = repository;
  const root = await graph.loadRoot(node);
  if (!root) return { paths: [], isComplete: true };
  const treeOid = await resident(() => catalog.oid(root));
  const bytes = await results.getOrComputeText(["paths", treeOid], async (budget) => {
    const listed: string[] = [];
    let chars = 0;
    try {
      for await (const { path } of walkFiles({ catalog, objects: objects.within(budget) }, root)) {
        budget.consume(STEPS_PER_PATH);
        chars += path.length;
        if (listed.length === PATHS_MAX || chars > CHARS_MAX) {
          return (listed.join("") + CUT) as ByteText;
        }
        listed.push(`${path}\0`);
      }
    } catch (error) {
      if (!(error instanceof GitError) || error.code !== "limit") throw error;
      return (listed.join("") + CUT) as ByteText;
    }
    return listed.join("") as ByteText;
  });
  const paths = new TextDecoder().decode(bytes).split("\0");
  return { isComplete: paths.pop() === "", paths };
}

/**
 * Finds the paths that have the characters of a query in its order, the best first; for an empty
 * query, all in the order of the tree.
 *
 * Cost: a comparison per path.
 */
export async function findPaths(
  { paths }: PathList,
  text: string,
  max: number,
): Promise<Listed<string>> {
  const query = toPathQuery(text);
  if (query === "") return { items: paths.slice(0, max), total: paths.length };
  const scored: ScoredPath[] = [];
  for (const [at, path] of paths.entries()) {
    if (at % SCORED_TOGETHER === 0) await pause(SCORED_TOGETHER * STEPS_PER_SCORE);
    const score = scorePath(path, query);
    if (score !== undefined) scored.push({ path, score });
  }
  return { items: bestPaths(scored, max), total: scored.length };
}
