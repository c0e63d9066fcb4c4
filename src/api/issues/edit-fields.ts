import { precondition } from "../../lib/failure.ts";
import { endOfDay, readSentTime } from "./sent-time.ts";

// Fields of the edits of issues and of pull requests.

/** @throws Failure `precondition` for a word that is no state. */
export function isClosedState(state: string): boolean {
  if (state !== "open" && state !== "closed") throw precondition(`unknown state: ${state}`);
  return state === "closed";
}

/** Either field replaces all assignees; an empty name stands for nobody. */
export const toNames = (edit: {
  readonly assignee?: string | undefined;
  readonly assignees?: readonly string[] | undefined;
}): readonly string[] | undefined =>
  edit.assignee === undefined && edit.assignees === undefined
    ? undefined
    : [edit.assignee ?? "", ...(edit.assignees ?? [])];

/** Null takes the deadline away; undefined leaves it as it is. */
export function toDeadline(edit: {
  readonly due_date?: string | undefined;
  readonly unset_due_date?: boolean | undefined;
}): number | null | undefined {
  if (edit.unset_due_date) return null;
  const { due_date: date } = edit;
  return date === undefined ? undefined : readSentTime("due_date", endOfDay(date));
}
