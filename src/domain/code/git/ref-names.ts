import { type ByteText, decodeText } from "../../../git/byte-text.ts";
import type { Node } from "../../../git/walk/commit-graph.ts";
import type { RepositorySnapshot } from "./open-snapshot.ts";

/** The first names of a repository's branches or tags, and how many there are. */
export interface RefNames {
  readonly names: readonly string[];
  readonly total: number;
}

/**
 * The first names of branches or tags, in the order of refs.
 *
 * @param prefix `refs/heads/` or `refs/tags/`.
 */
export function listRefNames(
  { state }: Pick<RepositorySnapshot, "state">,
  prefix: string,
  max: number,
): RefNames {
  const names: string[] = [];
  let total = 0;
  for (const { name } of state.refs) {
    if (!name.startsWith(prefix)) continue;
    total++;
    if (names.length < max) names.push(decodeText(name.slice(prefix.length) as ByteText));
  }
  return { names, total };
}

/** The commits of all branches, each once. */
export function findBranchTips({ state, repository }: RepositorySnapshot): Node[] {
  const heads = state.refs.filter(({ name }) => name.startsWith("refs/heads/"));
  return [...new Set(heads.map(({ oid }) => repository.graph.find(oid)))];
}
