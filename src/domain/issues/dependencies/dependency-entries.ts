import type { Ctx } from "../../../context.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import { insertEntryIfChanged } from "../issue/insert-entry.ts";
import type { Dependency } from "./dependency.ts";

/**
 * The statements that add a dependency to the timelines of both issues, if the previous
 * statement of the batch changed a row. The timelines of archived repositories do not change.
 */
export const dependencyEntries = (
  ctx: Ctx,
  kind: "add_dependency" | "remove_dependency",
  { blocked, blocker }: Dependency,
) => [...entriesOf(ctx, kind, blocked, blocker), ...entriesOf(ctx, kind, blocker, blocked)];

const entriesOf = (
  ctx: Ctx,
  kind: "add_dependency" | "remove_dependency",
  { repo, row }: IssueContext,
  other: IssueContext,
) =>
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
