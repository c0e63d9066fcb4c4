import { and, asc, count, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { milestones, type Milestone, type Repository } from "../../../db/schema/index.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";

/** The filter of a list of milestones. */
export interface MilestoneFilter {
  /** Both, if undefined. */
  readonly isClosed: boolean | undefined;
  /** A part of the title, in any case; "" for all. */
  readonly name: string;
}

/**
 * Lists milestones of a repository: those without a due date, then those with the nearest, each by
 * title.
 */
export async function listMilestones(
  { db }: Ctx,
  repo: Repository,
  { isClosed, name }: MilestoneFilter,
  { size, offset }: Slice,
): Promise<Listed<Milestone>> {
  const filter = { repoId: repo.id, isClosed, name: name === "" ? undefined : name };
  return toListedPage(await batch(db, milestonesOf(db, { filter, size, offset })));
}

interface Filter {
  readonly repoId: number;
  readonly isClosed: boolean | undefined;
  readonly name: string | undefined;
}

const milestonesOf = prepareAll(
  (db, { filter, size, offset }: Params<Slice & { filter: Filter }>) => {
    const { repoId, isClosed, name } = filter;
    const isListed = and(
      eq(milestones.repoId, repoId),
      isClosed === undefined ? undefined : eq(milestones.isClosed, isClosed),
      name && sql`instr(lower(${milestones.title}), lower(${name})) > 0`,
    );
    return {
      rows: db
        .select()
        .from(milestones)
        .where(isListed)
        .orderBy(asc(milestones.deadlineAt), asc(milestones.title), asc(milestones.id))
        .limit(size)
        .offset(offset),
      counted: db
        .select({ total: count().as("total") })
        .from(milestones)
        .where(isListed),
    };
  },
);
