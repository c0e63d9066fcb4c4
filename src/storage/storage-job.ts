import type { RepositoryLocation } from "./repository-records.ts";

/**
 * A queue message that requests maintenance. It names the repository; the object lists the work.
 */
export type StorageJob = MaintenanceJob | CollectionJob;

/** Settles pushes, merges packs and deletes expired files of a repository, which may be deleted. */
interface MaintenanceJob extends RepositoryLocation {
  kind: "maintain";
}

/** Removes objects that nothing reaches. */
export interface CollectionJob extends RepositoryLocation {
  kind: "collect";
  /**
   * For a search that somebody asked for: the grace period instead of the configured one, in
   * milliseconds.
   */
  askedGraceMs?: number;
  /** How often it began anew, since the repository had changed meanwhile. */
  retries?: number;
}
