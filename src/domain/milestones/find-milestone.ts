import { and, asc, desc, eq, or, type SQL } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { milestones, type Milestone, type Repository } from "../../db/schema/index.ts";
import { notFound } from "../../lib/failure.ts";

/** The condition for a milestone of a repository by its id. */
export const isMilestoneWithId = (repo: Repository, id: number): SQL | undefined =>
  and(eq(milestones.id, id), eq(milestones.repoId, repo.id));

/**
 * Finds a milestone of a repository by its id, or by its title: the oldest of those that have it. An id counts before a
 * title of the same digits.
 *
 * @throws Failure `not_found`.
 */
export async function findMilestone(ctx: Ctx, repo: Repository, name: string): Promise<Milestone> {
  const isTitled = and(eq(milestones.repoId, repo.id), eq(milestones.title, name));
  const id = /^[1-9]\d{0,14}$/.test(name) ? Number(name) : undefined;
  const [milestone] = await ctx.db
    .select()
    .from(milestones)
    .where(id === undefined ? isTitled : or(isMilestoneWithId(repo, id), isTitled))
    .orderBy(desc(eq(milestones.id, id ?? 0)), asc(milestones.id))
    .limit(1);
  if (!milestone) throw notFound("milestone does not exist");
  return milestone;
}
