import { and, asc, desc, eq, or, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { milestones, type Milestone, type Repository } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";

/** The condition for a milestone of a repository by its id. */
export const isMilestoneWithId = (repo: Repository, id: number): SQL | undefined =>
  and(eq(milestones.id, id), eq(milestones.repoId, repo.id));

/**
 * Finds a milestone of a repository by its id, or by its title: the oldest of those that have it.
 * An id counts before a title of the same digits.
 *
 * @throws Failure `not_found`.
 */
export async function findMilestone(ctx: Ctx, repo: Repository, name: string): Promise<Milestone> {
  const id = /^[1-9]\d{0,14}$/.test(name) ? Number(name) : undefined;
  const [milestone] = await oneMilestone(ctx.db, { repoId: repo.id, id, title: name });
  if (!milestone) throw notFound("milestone does not exist");
  return milestone;
}

const oneMilestone = prepare(
  (
    db,
    { repoId, id, title }: Params<{ repoId: number; id: number | undefined; title: string }>,
  ) => {
    const isTitled = and(eq(milestones.repoId, repoId), eq(milestones.title, title));
    const isThis = and(eq(milestones.repoId, repoId), id && eq(milestones.id, id));
    return db
      .select()
      .from(milestones)
      .where(id ? or(isThis, isTitled) : isTitled)
      .orderBy(...(id ? [desc(eq(milestones.id, id))] : []), asc(milestones.id))
      .limit(1);
  },
);
