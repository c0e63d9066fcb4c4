import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { issueDependencies, issues } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { notFound } from "../../../lib/failure.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import { eventSubject } from "../issue/event-subject.ts";
import { selectIssues, toIssueContext } from "../issue/find-issue.ts";
import { type Dependency, requireDependencyWrite } from "./dependency.ts";
import { dependencyEntries } from "./dependency-entries.ts";

/**
 * Ends that an issue or pull request waits for another one.
 *
 * @param answered The one of the two to return.
 * @throws Failure `not_found` if it does not wait, and for those who may not write to it; `locked`
 * in an archived repository.
 */
export async function removeDependency(
  ctx: Ctx,
  dependency: Dependency,
  answered: IssueContext,
): Promise<IssueContext> {
  const { blocked, blocker } = dependency;
  requireDependencyWrite(dependency);
  const { db } = ctx;
  const isThis = and(
    eq(issueDependencies.issueId, blocked.row.id),
    eq(issueDependencies.blockerId, blocker.row.id),
  );
  const { removed, found } = await batch(db, {
    removed: db
      .delete(issueDependencies)
      .where(isThis)
      .returning({ id: issueDependencies.issueId }),
    event: recordIfChanged(ctx, {
      type: "issue.dependency_removed",
      ...eventSubject(blocked),
      blockerId: blocker.row.id,
    }),
    found: selectIssues(db).where(eq(issues.id, answered.row.id)),
    entries: dependencyEntries(ctx, "remove_dependency", dependency),
  });
  const [row] = found;
  if (!removed[0] || !row) throw notFound("the issue does not depend on the other one");
  return toIssueContext(answered.repo, row);
}
