import { and, asc, eq, gt, ne, or, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { codeComments, pulls, reviews, type CodeComment } from "../../db/schema/index.ts";
import { recordEach } from "../../events/record.ts";
import type { Budget } from "../../git/budget.ts";
import { followIn } from "../../git/diff/follow-line.ts";
import type { Oid } from "../../git/oid.ts";
import type { PullContext } from "../../shapes/pulls/pull-request.ts";
import type { RepositoryRules } from "../../shapes/repos/repository-rules.ts";
import type { OpenRepository } from "../../storage/open-repository.ts";
import { diffSides } from "../commits/find-changes.ts";
import { insertEntries } from "../issues/insert-entry.ts";
import { rulesOfBranch } from "../protections/match-rule.ts";
import { findFileAt } from "./find-file-at.ts";
import { isSubmittedReview } from "./review-states.ts";

/** Another head of a pull request. */
export interface NewHead {
  readonly headOid: Oid;
  /** Whether it offers the base the same change as the former one. */
  readonly isSameChange: boolean;
}

/**
 * The statements that mark the reviews of a pull request for another head, and dismiss approvals where a rule of the base
 * wants that. They belong before the statement that moves the head, in its batch, and write nothing if the head is not the
 * former one any more.
 *
 * SECURITY: an approval that a rule drops with a push is gone in the moment in which the new head shows.
 *
 * A head that offers the same change leaves reviews as they are. A review of the very commit is never stale.
 *
 * @param rules Of the base's repository.
 */
export function headStatements(
  ctx: Ctx,
  pull: PullContext,
  rules: RepositoryRules,
  { headOid, isSameChange }: NewHead,
) {
  const { row } = pull;
  const isMoving = sql`exists (
    select 1
    from ${pulls}
    where ${pulls.issueId} = ${row.id} and ${pulls.headOid} = ${pull.pull.headOid}
      and not ${pulls.isClosed}
  )`;
  const mark = (isStale: boolean, condition: SQL) =>
    ctx.db
      .update(reviews)
      .set({ isStale })
      .where(
        and(
          eq(reviews.issueId, row.id),
          eq(reviews.isStale, !isStale),
          or(isSubmittedReview, eq(reviews.state, "pending")),
          condition,
          isMoving,
        ),
      );
  const fresh = mark(false, eq(reviews.commitOid, headOid));
  if (isSameChange) return [fresh];
  const isOther = ne(reviews.commitOid, headOid);
  return [
    fresh,
    mark(true, isOther),
    ...(dismissesStale(rules, pull) ? dropApprovals(ctx, pull, and(isOther, isMoving)) : []),
  ];
}

/** Whether a rule of the base dismisses approvals of other commits than the head. */
export const dismissesStale = (rules: RepositoryRules, { pull }: PullContext): boolean =>
  rulesOfBranch(rules, pull.baseBranch).some(({ settings }) => settings.dismissStaleApprovals);

/**
 * The statements that dismiss approvals of a pull request, in the batch of what makes them void: another head, where a
 * rule wants that, or another base.
 *
 * SECURITY: an approval is for the base that it was given for: another one may be under other rules.
 *
 * @param condition Which approvals; all of them without one.
 */
export function dropApprovals(ctx: Ctx, { repo, row }: PullContext, condition?: SQL) {
  const isDropped = and(
    eq(reviews.issueId, row.id),
    eq(reviews.state, "approved"),
    eq(reviews.isDismissed, false),
    condition,
  );
  const dropped = sql`from ${reviews} where ${isDropped} order by ${reviews.id}`;
  const subject = { repoId: repo.row.id, issueId: row.id };
  return [
    insertEntries(
      ctx,
      { kind: "dismiss_review", ...subject, reviewId: sql`${reviews.id}` },
      dropped,
    ),
    recordEach(
      ctx,
      {
        type: "review.dismissed",
        ownerId: repo.row.ownerId,
        number: row.number,
        ...subject,
        reviewId: sql`${reviews.id}`,
      },
      dropped,
    ),
    ctx.db.update(reviews).set({ isDismissed: true, updatedAt: ctx.now }).where(isDropped),
  ] as const;
}

/** Comments that one call follows, so that their rows and the files that are compared stay few. */
const FOLLOWED_AT_ONCE = 200;
/** Steps to compare files in one call: a second of processor time. */
const STEPS_MAX = 100_000_000;

/**
 * Takes the comments on code of a pull request along to another head: a comment follows its line, and becomes outdated
 * where that was changed or removed, or where its file is gone. A comment on the old side follows to another merge base.
 *
 * Repeated for the same head it changes nothing: each comment knows the commit that its line is counted in.
 *
 * Cost: one query without comments to follow; otherwise also the opening of the repository, and one update.
 *
 * @param newHeadOid A commit in the repository of the base.
 * @param newMergeBaseOid That of the new head; "" for none.
 * @returns Whether all comments follow now; if not, call it again.
 */
export async function followComments(
  ctx: Ctx,
  { repo, row }: Pick<PullContext, "repo" | "row">,
  newHeadOid: string,
  newMergeBaseOid: string,
): Promise<boolean> {
  const comments = await ctx.db
    .select(FOLLOWED)
    .from(codeComments)
    .where(
      and(
        eq(codeComments.issueId, row.id),
        eq(codeComments.isOutdated, false),
        gt(codeComments.line, 0),
        sql`${codeComments.commitOid} <> iif(
          ${codeComments.isOldSide}, ${newMergeBaseOid}, ${newHeadOid}
        )`,
      ),
    )
    .orderBy(asc(codeComments.path), asc(codeComments.entryId))
    .limit(FOLLOWED_AT_ONCE);
  if (comments.length === 0) return true;
  const stored = ctx.git.repository(repo.row);
  const budget = ctx.git.openBudget(STEPS_MAX);
  // SECURITY: this works for the service, and tells nobody what it reads.
  const repository = await stored.open(await stored.snapshot(), budget);
  const moved = await follow(repository, comments, newHeadOid, newMergeBaseOid, budget);
  await ctx.db.update(codeComments).set(movedColumns(moved)).where(isStill(moved));
  return comments.length < FOLLOWED_AT_ONCE;
}

const FOLLOWED = {
  entryId: codeComments.entryId,
  path: codeComments.path,
  line: codeComments.line,
  startLine: codeComments.startLine,
  isOldSide: codeComments.isOldSide,
  commitOid: codeComments.commitOid,
};
type Followed = Pick<CodeComment, keyof typeof FOLLOWED>;

/** Where a comment is in another commit. */
interface Moved {
  readonly id: number;
  readonly from: string;
  readonly to: string;
  readonly line: number;
  readonly startLine: number;
  readonly isOutdated: boolean;
}

async function follow(
  repository: OpenRepository,
  comments: readonly Followed[],
  headOid: string,
  mergeBaseOid: string,
  budget: Budget,
): Promise<Moved[]> {
  const groups = Map.groupBy(comments, ({ path, commitOid, isOldSide }) =>
    JSON.stringify([path, commitOid, isOldSide]),
  );
  const moved: Moved[] = [];
  for (const group of groups.values()) {
    const { path, commitOid, isOldSide } = group[0] as Followed;
    const to = isOldSide ? mergeBaseOid : headOid;
    const find = await openFollower(repository, path, commitOid, to, budget);
    for (const { entryId, line, startLine } of group) {
      const [end, start] = [find(line), find(startLine)];
      const isKept = end !== undefined && start !== undefined && end - start === line - startLine;
      const place = isKept ? { line: end, startLine: start } : { line, startLine };
      // An outdated comment stays where it was last.
      const at = isKept ? to : commitOid;
      moved.push({ ...place, id: entryId, from: commitOid, to: at, isOutdated: !isKept });
    }
  }
  return moved;
}

/** What finds lines of a file of one commit in another one. */
async function openFollower(
  repository: OpenRepository,
  path: string,
  from: string,
  to: string,
  budget: Budget,
): Promise<(line: number) => number | undefined> {
  const [old, fresh] = [
    await findFileAt(repository, from, path),
    await findFileAt(repository, to, path),
  ];
  if (!old || !fresh) return () => undefined;
  if (old.oid === fresh.oid) return (line) => line;
  const change = { kind: "modified" as const, old, new: fresh };
  const diff = await diffSides(repository.objects.within(budget), change, budget);
  return (line) => diff && followIn(diff, line);
}

/** The statement's condition for comments that nobody has moved since they were read. */
const isStill = (moved: readonly Moved[]): SQL => sql`
  (${codeComments.entryId}, ${codeComments.commitOid}) in (
    select value ->> 'id', value ->> 'from' from json_each(${JSON.stringify(moved)})
  ) and not ${codeComments.isOutdated}`;

function movedColumns(moved: readonly Moved[]) {
  const json = JSON.stringify(moved);
  const column = (name: keyof Moved) => sql`(
    select value ->> ${name} from json_each(${json}) where value ->> 'id' = ${codeComments.entryId}
  )`;
  return {
    line: column("line"),
    startLine: column("startLine"),
    commitOid: column("to"),
    isOutdated: column("isOutdated"),
  };
}
