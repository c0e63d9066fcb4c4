import { and, asc, count, desc, eq, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import { milestones, type Milestone, type Repository } from "../../../db/schema/index.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";

/** The filter of a list of milestones. */
export interface MilestoneFilter {
  /** Both, if undefined. */
  readonly isClosed: boolean | undefined;
  /** A part of the title, in any case; "" for all. */
  readonly name: string;
}

const { openIssueCount, closedIssueCount } = milestones;
const issueCount = sql`(${openIssueCount} + ${closedIssueCount})`;
/** Of its issues, those that are closed; of none, none. */
const completeness = sql`(1.0 * ${closedIssueCount} / max(${issueCount}, 1))`;

/**
 * The orders of a list of milestones, where equal ones are by id. By the closest due date, those
 * without one come first.
 */
const ORDERS = {
  closestduedate: [asc(milestones.deadlineAt), asc(milestones.title)],
  furthestduedate: [desc(milestones.deadlineAt)],
  leastcomplete: [asc(completeness)],
  mostcomplete: [desc(completeness)],
  leastissues: [asc(issueCount)],
  mostissues: [desc(issueCount)],
  name: [asc(milestones.title)],
  id: [],
} as const satisfies Record<string, readonly SQL[]>;

export type MilestoneOrder = keyof typeof ORDERS;

/** Lists milestones of a repository. */
export async function listMilestones(
  { db }: Ctx,
  repo: Repository,
  { isClosed, name }: MilestoneFilter,
  { size, offset }: Slice,
  order: MilestoneOrder = "closestduedate",
): Promise<Listed<Milestone>> {
  const filter = { repoId: repo.id, isClosed, name: name === "" ? undefined : name };
  return toListedPage(await batch(db, milestonesOf(db, { filter, size, offset }, { order })));
}

/** Counts the open and the closed milestones of a repository with a part of the title. */
export async function countMilestones(
  { db }: Ctx,
  repo: Repository,
  { name }: Pick<MilestoneFilter, "name">,
): Promise<{ open: number; closed: number }> {
  const filter = { repoId: repo.id, isClosed: undefined, name: name === "" ? undefined : name };
  const [counts] = await countsOf(db, filter);
  return { open: counts?.open ?? 0, closed: counts?.closed ?? 0 };
}

interface Filter {
  readonly repoId: number;
  readonly isClosed: boolean | undefined;
  readonly name: string | undefined;
}

const isListedIn = ({ repoId, isClosed, name }: Params<Filter>) =>
  and(
    eq(milestones.repoId, repoId),
    isClosed === undefined ? undefined : eq(milestones.isClosed, isClosed),
    name && sql`instr(lower(${milestones.title}), lower(${name})) > 0`,
  );

const countsOf = prepare((db, filter: Params<Filter>) =>
  db
    .select({
      open: sql<number>`coalesce(sum(not ${milestones.isClosed}), 0)`.as("open"),
      closed: sql<number>`coalesce(sum(${milestones.isClosed}), 0)`.as("closed"),
    })
    .from(milestones)
    .where(isListedIn(filter)),
);

const milestonesOf = prepareAll(
  (
    db,
    { filter, size, offset }: Params<Slice & { filter: Filter }>,
    { order }: { order: MilestoneOrder },
  ) => {
    const isListed = isListedIn(filter);
    return {
      rows: db
        .select()
        .from(milestones)
        .where(isListed)
        .orderBy(...ORDERS[order], asc(milestones.id))
        .limit(size)
        .offset(offset),
      counted: db
        .select({ total: count().as("total") })
        .from(milestones)
        .where(isListed),
    };
  },
);
