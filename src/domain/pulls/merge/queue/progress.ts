/**
 * The state after a step of a merge queue: `more` can be done at once, or the queue `waits` for an
 * event or the schedule.
 */
export type Progress = "more" | "waits";
