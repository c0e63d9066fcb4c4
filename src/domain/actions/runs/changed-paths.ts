import { decodeText } from "../../../git/byte-text.ts";
import { findChangedPath } from "../../../git/diff/find-changed-path.ts";
import { GitError } from "../../../git/error.ts";
import type { Node } from "../../../git/walk/commit-graph.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { findNode } from "../../code/git/find-node.ts";

/** Paths that filters look at: with more, a filter of paths lets a run start. */
const PATHS_MAX = 3000;

/**
 * Lists the paths that differ between two commits.
 *
 * @param baseOid Undefined for an empty tree.
 * @returns "too many" also where comparing takes more than the budget of the repository.
 */
export async function listChangedPaths(
  repository: OpenRepository,
  node: Node,
  baseOid: string | undefined,
): Promise<readonly string[] | "too many"> {
  const { graph, objects } = repository;
  const base = await findNode(repository, baseOid ?? null);
  const paths: string[] = [];
  try {
    const last = await findChangedPath(
      objects,
      await graph.loadRootOid(base),
      await graph.loadRootOid(node),
      (path) => paths.push(decodeText(path)) > PATHS_MAX,
      objects.budget,
    );
    return last === undefined ? paths : "too many";
  } catch (error) {
    if (!(error instanceof GitError) || error.code !== "limit") throw error;
    return "too many";
  }
}
