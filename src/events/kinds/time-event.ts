/** The issue or pull request that time is spent on. */
interface OnIssue {
  repoId: number;
  ownerId: number;
  issueId: number;
  number: number;
  isPull: boolean;
  /** Whose time it is. */
  userId: number;
}

/** Changes of booked time, and of stopwatches. How long it was is not told: writers only list that. */
export type TimeEvent =
  | (OnIssue & { type: "issue.time_added" | "issue.time_deleted"; timeId: number })
  | (OnIssue & {
      type: "issue.times_reset" | "issue.stopwatch_started" | "issue.stopwatch_cancelled";
    });
