import { and, asc, count, eq, exists, gt, ne, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Database, isViolation, onlyWhile } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { issues, type Issue } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { conflict, malformed, notFound } from "../../../lib/failure.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { eventSubject } from "./event-subject.ts";
import { selectIssues, toIssueContext } from "./find-issue.ts";
import { insertEntryIfChanged } from "./insert-entry.ts";

/** The number of issues of a repository that can be pinned, and of pull requests. */
export const PINS_MAX = 3;

/**
 * The condition for the pinned issues or pull requests of a repository. Their orders are 1, 2, 3,
 * without a gap.
 */
const isPinned = ({ repoId, isPull }: PinnedKind): SQL => sql`(
  ${issues.repoId} = ${repoId} and ${issues.isPull} = ${kind(isPull)} and ${issues.pinOrder} > 0
)`;

const countPins = (db: Database, pinned: PinnedKind) =>
  db.select({ count: count() }).from(issues).where(isPinned(pinned));

/** The condition that one issue is pinned. */
const isPinnedIssue = (id: number) => and(eq(issues.id, id), gt(issues.pinOrder, 0));

/** The issues or the pull requests of a repository. */
interface PinnedKind {
  readonly repoId: number | SQL;
  readonly isPull: boolean;
}

const kind = (isPull: boolean): SQL => sql.raw(isPull ? "1" : "0");

/**
 * Pins an issue or pull request, as the last one.
 *
 * @throws Failure `malformed` if as many are pinned as can be, `conflict` if it is pinned already,
 * `not_found` if it was deleted meanwhile.
 */
export async function pinIssue(ctx: Ctx, issue: IssueContext): Promise<void> {
  const { db } = ctx;
  const { id: issueId, repoId } = issue.row;
  const pins = countPins(db, issue.row);
  try {
    const { pinned, found } = await batch(db, {
      pinned: db
        .update(issues)
        .set({
          pinOrder: onlyWhile(sql`${pins} < ${PINS_MAX}`, sql<number>`${pins} + 1`),
          updatedAt: ctx.now,
        })
        .where(and(eq(issues.id, issueId), eq(issues.pinOrder, 0)))
        .returning({ id: issues.id }),
      entry: insertEntryIfChanged(ctx, { kind: "pin", repoId, issueId }),
      event: recordIfChanged(ctx, { type: "issue.pinned", ...eventSubject(issue) }),
      found: db.select({ id: issues.id }).from(issues).where(eq(issues.id, issueId)),
    });
    if (found.length === 0) throw notFound("issue does not exist");
    if (pinned.length === 0) throw conflict("the issue is pinned already");
  } catch (error) {
    if (!isViolation(error, "NOT NULL", "issues.pin_order")) throw error;
    throw malformed(`at most ${PINS_MAX} can be pinned`);
  }
}

/**
 * Unpins an issue or pull request, and closes the gap. Idempotent. @throws Failure `not_found` if
 * it is gone.
 */
export async function unpinIssue(ctx: Ctx, issue: IssueContext): Promise<void> {
  const { db } = ctx;
  const { id: issueId, repoId } = issue.row;
  const { found } = await batch(db, {
    gap: closePinGap(ctx, issue.row),
    unpinned: db
      .update(issues)
      .set({ pinOrder: 0, updatedAt: ctx.now })
      .where(isPinnedIssue(issueId)),
    entry: insertEntryIfChanged(ctx, { kind: "unpin", repoId, issueId }),
    event: recordIfChanged(ctx, { type: "issue.unpinned", ...eventSubject(issue) }),
    found: db.select({ id: issues.id }).from(issues).where(eq(issues.id, issueId)),
  });
  if (found.length === 0) throw notFound("issue does not exist");
}

/** The statement that moves up the pins behind an issue, before it is unpinned or deleted. */
export const closePinGap = ({ db }: Ctx, issue: Issue) =>
  db
    .update(issues)
    .set({ pinOrder: sql`${issues.pinOrder} - 1` })
    .where(
      and(
        isPinned(issue),
        gt(
          issues.pinOrder,
          db.select({ pinOrder: issues.pinOrder }).from(issues).where(isPinnedIssue(issue.id)),
        ),
      ),
    );

/**
 * Moves a pinned issue or pull request to another position; beyond the last one it becomes the
 * last.
 *
 * @param position From 1.
 * @throws Failure `conflict` if it is not pinned.
 */
export async function movePin(ctx: Ctx, { row }: IssueContext, position: number): Promise<void> {
  const { db } = ctx;
  // Between the positions of the others: behind the pin at the position if it moves down, before
  // that pin if it moves up.
  const order = sql`case
    when ${issues.id} <> ${row.id} then 2 * ${issues.pinOrder}
    when ${issues.pinOrder} < ${position} then 2 * ${position} + 1
    else 2 * ${position} - 1
  end`;
  const found = db.select({ id: issues.id }).from(issues).where(isPinnedIssue(row.id));
  const moved = db
    .select({
      id: issues.id,
      position: sql<number>`row_number() over (order by ${order})`.as("position"),
    })
    .from(issues)
    .where(and(isPinned(row), exists(found)))
    .as("moved");
  const results = await batch(db, {
    moved: db
      .update(issues)
      .set({ pinOrder: sql`${moved.position}` })
      .from(moved)
      .where(and(eq(issues.id, moved.id), ne(issues.pinOrder, moved.position))),
    found,
  });
  if (results.found.length === 0) throw conflict("the issue is not pinned");
}

/** Lists the pinned issues of a repository, or the pinned pull requests, in their order. */
export async function listPins(
  ctx: Ctx,
  repo: RepositoryContext,
  isPull: boolean,
): Promise<IssueContext[]> {
  const rows = await pinsOf(ctx.db, { repoId: repo.row.id, isPull });
  return rows.map((row) => toIssueContext(repo, row));
}

const pinsOf = prepare((db, { repoId, isPull }: Params<{ repoId: number; isPull: boolean }>) =>
  selectIssues(db)
    .where(isPinned({ repoId, isPull }))
    .orderBy(asc(issues.pinOrder))
    .limit(PINS_MAX),
);

/** Whether one more issue, and one more pull request, can be pinned. */
export async function findPinRoom(
  ctx: Ctx,
  { row }: RepositoryContext,
): Promise<{ issues: boolean; pulls: boolean }> {
  const [counted] = await pinCounts(ctx.db, { repoId: row.id });
  return {
    issues: (counted?.ofIssues ?? 0) < PINS_MAX,
    pulls: (counted?.ofPulls ?? 0) < PINS_MAX,
  };
}

const pinCounts = prepare((db, { repoId }: Params<{ repoId: number }>) =>
  db
    .select({
      ofIssues: sql<number>`${countPins(db, { repoId, isPull: false })}`.as("of_issues"),
      ofPulls: sql<number>`${countPins(db, { repoId, isPull: true })}`.as("of_pulls"),
    })
    .from(sql`(select 1)`),
);
