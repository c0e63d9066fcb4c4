import type { RepositoryLocation } from "./repository-records.ts";

/** A queue message that requests maintenance. It names the repository; the object lists the work. */
export interface StorageJob extends RepositoryLocation {
  /** Settles pushes, merges packs and deletes expired files of a repository, which may be deleted. */
  kind: "maintain";
}
