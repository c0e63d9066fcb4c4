import { and, eq, isNull } from "drizzle-orm";

import { callerSql } from "../../../auth/caller-sql.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { issues, pulls, repositories, timelineEntries } from "../../../db/schema/index.ts";
import type { Consequence } from "../../../events/consequence.ts";
import { changeByCommit } from "../../issues/references/act-by-commit.ts";
import { findIssueReferences } from "../../issues/references/find-references.ts";
import type { ReferredIssue } from "../../issues/references/find-references.ts";
import { findReferred, type Referred } from "../../issues/references/find-referred.ts";
import { selectRepositories, toRepositoryContext } from "../../repos/repository/find-repository.ts";

/** The reference with which the next step continues. */
interface ClosingState {
  readonly at: number;
}

/**
 * Closes and reopens the issues that the title and the description of a merged pull request name
 * with a keyword, with the permissions of the merger; in another repository only those that who
 * wrote the text may close, too. References in its commits take effect by the push of the merge, in
 * the default branch.
 *
 * A merge commit changes an issue at most once, also if its own message has the same reference.
 */
export const closeByMerge: Consequence = {
  name: "merge-references",
  kinds: ["pull.merged"],
  async handle(ctx, { event }, budget, state) {
    if (event.type !== "pull.merged" || ctx.actor.user === undefined) return undefined;
    const { at } = (state as ClosingState | undefined) ?? { at: 0 };
    budget.consume(5);
    const {
      pulls: [pull],
      repos: [row],
    } = await batch(ctx.db, {
      pulls: ctx.db
        .select({ title: issues.title, body: issues.body })
        .from(issues)
        .innerJoin(pulls, eq(pulls.issueId, issues.id))
        .where(eq(issues.id, event.issueId)),
      repos: selectRepositories(ctx.db, callerSql(ctx.actor)).where(
        eq(repositories.id, event.repoId),
      ),
    });
    if (!pull || !row) return undefined;
    const repo = toRepositoryContext(ctx.actor, row);
    const acting = findIssueReferences(pull, [ctx.publicUrl])
      .issues.filter(({ action }) => action !== "none")
      // SECURITY: a bound token merges with the rights of its account, and must not reach further
      // by a description.
      .filter((each) => event.isConfined !== true || each.repo === undefined);
    const reference = acting[at];
    if (!reference) return undefined;
    const find = await findReferred(ctx, repo, [reference]);
    const referred = find(reference);
    const isMeant =
      referred?.row.repoId === event.repoId ||
      (referred && (await isByWriter(ctx, event.issueId, referred, reference)));
    if (referred && !referred.row.isPull && isMeant) {
      const isClosed = reference.action === "closes";
      await changeByCommit(ctx, referred, isClosed, event.mergeCommitOid);
    }
    return at + 1 < acting.length ? { at: at + 1 } : undefined;
  },
};

/**
 * Whether who referred to an issue in the text of a pull request might do to it what the reference
 * does.
 *
 * SECURITY: otherwise a contributor without rights in another repository closes its issues by the
 * hand of a maintainer, who sees no keyword in a merge.
 */
async function isByWriter(
  { db }: Ctx,
  pullId: number,
  { row }: Referred,
  { action }: ReferredIssue,
): Promise<boolean> {
  const [entry] = await db
    .select({ id: timelineEntries.id })
    .from(timelineEntries)
    .where(
      and(
        eq(timelineEntries.issueId, row.id),
        eq(timelineEntries.kind, "pull_ref"),
        eq(timelineEntries.otherIssueId, pullId),
        isNull(timelineEntries.otherEntryId),
        eq(timelineEntries.refAction, action),
      ),
    )
    .limit(1);
  return entry !== undefined;
}
