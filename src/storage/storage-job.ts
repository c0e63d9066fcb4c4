import type { RepositoryLocation } from "./repository-records.ts";

/** A message that asks for work behind everybody's back. It names where to look, not what to do. */
export interface StorageJob extends RepositoryLocation {
  /** Tells, merges and removes whatever waits for it in a repository, also in one that is deleted. */
  kind: "maintain";
}
