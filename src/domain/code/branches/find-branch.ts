import type { StoredRef } from "../../../storage/repository-records.ts";
import { noSuchRef } from "../git/no-such-ref.ts";
import { type RepositorySnapshot, findRef } from "../git/open-snapshot.ts";

export const branchRef = (name: string): string => `refs/heads/${name}`;

/** @throws Failure `not_found` if the branch does not exist. */
export function findBranch(snapshot: RepositorySnapshot, name: string): StoredRef {
  const ref = findRef(snapshot, branchRef(name));
  if (!ref) throw noSuchRef(snapshot, "Branch doesn't exist.");
  return ref;
}
