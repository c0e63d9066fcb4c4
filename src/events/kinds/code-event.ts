/** Commit statuses, and locks of large files. */
export type CodeEvent =
  | {
      type: "commit_status.created";
      repoId: number;
      ownerId: number;
      commitOid: string;
      /** Counts the statuses of the commit, from 1. */
      number: number;
      state: string;
      context: string;
    }
  | {
      type: "lfs_lock.created" | "lfs_lock.deleted";
      repoId: number;
      ownerId: number;
      path: string;
    };
