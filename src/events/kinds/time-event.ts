/** The issue or pull request that time is spent on. */
interface OnIssue {
  repoId: number;
  ownerId: number;
  issueId: number;
  number: number;
  isPull: boolean;
}

interface OfUser extends OnIssue {
  /** Whose time it is. */
  userId: number;
}

/**
 * Changes of booked time, of stopwatches and of estimates. They don't hold the booked duration,
 * which only writers may list.
 */
export type TimeEvent =
  | (OfUser & { type: "issue.time_added" | "issue.time_deleted"; timeId: number })
  | (OfUser & {
      type: "issue.times_reset" | "issue.stopwatch_started" | "issue.stopwatch_cancelled";
    })
  | (OnIssue & {
      type: "issue.estimate_changed";
      /** 0 for none. */
      seconds: number;
    });
