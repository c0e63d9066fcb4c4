import type { BatchItem } from "drizzle-orm/batch";

import type { Ctx } from "../../../context.ts";
import { recordIfChanged } from "../../../events/record.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import { eventSubject } from "./event-subject.ts";
import { insertEntryIfChanged } from "./insert-entry.ts";

/**
 * The statements that cancel the scheduled merge of a pull request, with the entry and the event.
 * Without a scheduled merge they write nothing.
 *
 * @param deletion Deletes it from `scheduledMerges`.
 */
export function unscheduleStatements<T extends BatchItem<"sqlite">>(
  ctx: Ctx,
  issue: IssueContext,
  deletion: T,
) {
  const { id: issueId, repoId } = issue.row;
  const { isPull: _, ...subject } = eventSubject(issue);
  return [
    deletion,
    insertEntryIfChanged(ctx, { kind: "pull_cancel_scheduled_merge", repoId, issueId }),
    recordIfChanged(ctx, { type: "pull.merge_unscheduled", ...subject }),
  ] as const;
}
