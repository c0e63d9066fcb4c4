import { and, asc, count, desc, eq, type SQL, sql } from "drizzle-orm";

import { isUnitOnSql } from "../../../auth/access/unit-switches.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { anyOf, columnsOf } from "../../../db/db.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import {
  milestones,
  type Milestone,
  repositories,
  type Repository,
  type User,
} from "../../../db/schema/index.ts";
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

/** The numbers of open and of closed milestones. */
export interface MilestoneCounts {
  readonly open: number;
  readonly closed: number;
}

/** Counts the open and the closed milestones of a repository with a part of the title. */
export async function countMilestones(
  { db }: Ctx,
  repo: Repository,
  { name }: Pick<MilestoneFilter, "name">,
): Promise<MilestoneCounts> {
  const filter = { repoId: repo.id, isClosed: undefined, name: name === "" ? undefined : name };
  const [counts] = await countsOf(db, filter);
  return { open: counts?.open ?? 0, closed: counts?.closed ?? 0 };
}

/** A milestone of one of several repositories. */
interface MilestoneOfRepository {
  readonly milestone: Milestone;
  readonly repoName: string;
}

/** Milestones, with the numbers of the open and of the closed ones. */
export interface OwnMilestones extends Listed<MilestoneOfRepository> {
  readonly counts: MilestoneCounts;
}

/**
 * Lists milestones of the repositories that a user owns, but for those without issues and pull
 * requests.
 *
 * Cost: one round trip; the rows of all milestones of these repositories.
 */
export async function listOwnMilestones(
  { db }: Ctx,
  { id: ownerId }: User,
  { isClosed, name }: MilestoneFilter,
  { size, offset }: Slice,
  order: MilestoneOrder,
): Promise<OwnMilestones> {
  const filter = { ownerId, isClosed, name: name === "" ? undefined : name };
  const { counts, ...page } = await batch(
    db,
    ownMilestones(db, { filter, size, offset }, { order }),
  );
  return { ...toListedPage(page), counts: { open: 0, closed: 0, ...counts[0] } };
}

interface Filter extends StateFilter {
  readonly repoId: number;
}

interface OwnFilter extends StateFilter {
  readonly ownerId: number;
}

interface StateFilter {
  readonly isClosed: boolean | undefined;
  readonly name: string | undefined;
}

const isListedIn = ({ repoId, ...filter }: Params<Filter>) =>
  and(eq(milestones.repoId, repoId), matchesFilter(filter));

const matchesFilter = ({ isClosed, name }: Params<StateFilter>) =>
  and(
    isClosed === undefined ? undefined : eq(milestones.isClosed, isClosed),
    name && sql`instr(lower(${milestones.title}), lower(${name})) > 0`,
  );

const stateCounts = {
  open: sql<number>`coalesce(sum(not ${milestones.isClosed}), 0)`.as("open"),
  closed: sql<number>`coalesce(sum(${milestones.isClosed}), 0)`.as("closed"),
};

const countsOf = prepare((db, filter: Params<Filter>) =>
  db.select(stateCounts).from(milestones).where(isListedIn(filter)),
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

const ownMilestones = prepareAll(
  (
    db,
    { filter, size, offset }: Params<Slice & { filter: OwnFilter }>,
    { order }: { order: MilestoneOrder },
  ) => {
    const isOwn = and(
      eq(repositories.ownerId, filter.ownerId),
      anyOf(isUnitOnSql("issues"), isUnitOnSql("pulls")),
    );
    const isListed = and(isOwn, matchesFilter(filter));
    return {
      rows: db
        .select({
          milestone: columnsOf(milestones, "m"),
          repoName: sql<string>`${repositories.name}`.as("repo_name"),
        })
        .from(repositories)
        .innerJoin(milestones, eq(milestones.repoId, repositories.id))
        .where(isListed)
        .orderBy(...ORDERS[order], asc(milestones.id))
        .limit(size)
        .offset(offset),
      counted: db
        .select({ total: count().as("total") })
        .from(repositories)
        .innerJoin(milestones, eq(milestones.repoId, repositories.id))
        .where(isListed),
      counts: db
        .select(stateCounts)
        .from(repositories)
        .innerJoin(milestones, eq(milestones.repoId, repositories.id))
        .where(and(isOwn, matchesFilter({ isClosed: undefined, name: filter.name }))),
    };
  },
);
