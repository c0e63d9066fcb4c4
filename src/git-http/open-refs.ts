import type { Repository } from "../db/schema/index.ts";
import type { RepositoryContext } from "../shapes/repos/repository.ts";
import type { PullRefs, Snapshot } from "../storage/repository-records.ts";
import type { StoredRepository } from "../storage/storage.ts";

/** A wiki to which nothing was pushed. */
const NOTHING: Snapshot = {
  version: 0,
  head: null,
  refs: [],
  lacksPullRefs: false,
  packs: [],
  collections: 0,
  loadPullRefs: async () => [],
  findPullRefs: async () => [],
};

/** The part of a repository that says whether it has any git data. */
export interface RefOwner {
  readonly row: Pick<Repository, "isEmpty">;
  readonly isWiki?: RepositoryContext["isWiki"];
}

/**
 * The refs of a repository. Those of a wiki that is empty are listed without its Durable Object,
 * which the first push makes.
 */
export const openRefs = async (
  { row, isWiki }: RefOwner,
  stored: StoredRepository,
  pulls: PullRefs,
): Promise<Snapshot> => (isWiki && row.isEmpty ? NOTHING : stored.snapshot(pulls));
