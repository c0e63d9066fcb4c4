import type { BatchItem } from "drizzle-orm/batch";

import type { Ctx } from "../../context.ts";
import type { IssueContext } from "../../shapes/issues/issue.ts";
import { insertEntryAboutIfChanged, storeEntry } from "../cross-shard/entry-statements.ts";
import { isCrossShard } from "../cross-shard/is-cross-shard.ts";
import { insertEntryIfChanged } from "../issues/insert-entry.ts";
import type { Dependency } from "./dependency.ts";

type EntryKind = "add_dependency" | "remove_dependency";

/**
 * The statements that tell of a dependency in the timelines of both issues, if the previous statement of the batch changed
 * a row. The timelines of archived repositories do not change.
 *
 * Between two databases the entry of the blocking issue is stored, and is to be sent by `sendEntries`.
 *
 * @param ctx Of the database of the blocked issue.
 */
export const dependencyEntries = (
  ctx: Ctx,
  kind: EntryKind,
  { blocked, blocker }: Dependency,
): BatchItem<"sqlite">[] =>
  isCrossShard(blocked, blocker)
    ? [
        ...insertEntryAboutIfChanged(ctx, kind, blocked, blocker),
        storeEntry(ctx, { kind, subject: blocked.row, to: blocker.row }),
      ]
    : [...entriesOf(ctx, kind, blocked, blocker), ...entriesOf(ctx, kind, blocker, blocked)];

const entriesOf = (ctx: Ctx, kind: EntryKind, { repo, row }: IssueContext, other: IssueContext) =>
  repo.row.archivedAt === null
    ? [
        insertEntryIfChanged(ctx, {
          kind,
          repoId: row.repoId,
          issueId: row.id,
          otherIssueId: other.row.id,
        }),
      ]
    : [];
