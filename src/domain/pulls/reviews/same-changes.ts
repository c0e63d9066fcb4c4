import { and, eq, inArray, or } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { reviews } from "../../../db/schema/index.ts";
import { GitError } from "../../../git/error.ts";
import { isSameChange } from "../../../git/merge/same-change.ts";
import { isOid, type Oid } from "../../../git/oid.ts";
import { NO_NODE, type Node } from "../../../git/walk/commit-graph.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { isSubmittedReview } from "./review-states.ts";

/** Steps to compare the heads of one call: a second of processor time. */
const STEPS_MAX = 100_000_000;

/** A head of a pull request, and another one. */
export interface HeadPair {
  /** The present value of the base's branch; "" if it does not exist. */
  readonly baseOid: Oid | "";
  readonly formerOid: Oid;
  readonly headOid: Oid;
}

/**
 * Whether two heads offer a base the same change. One that does not exist offers none, and what is
 * too large to compare counts as another one.
 */
export async function offersSameChange(
  ctx: Ctx,
  repository: OpenRepository,
  pair: HeadPair,
  budget = ctx.git.openBudget(STEPS_MAX),
): Promise<boolean> {
  const { graph, objects } = repository;
  const nodeOf = (oid: string): Node => (isOid(oid) ? graph.find(oid) : NO_NODE);
  const [base, former, head] = [nodeOf(pair.baseOid), nodeOf(pair.formerOid), nodeOf(pair.headOid)];
  if (base === NO_NODE || former === NO_NODE || head === NO_NODE) return false;
  try {
    return await isSameChange(graph, objects.within(budget), base, former, head);
  } catch (error) {
    if (error instanceof GitError && error.code === "limit") return false;
    throw error;
  }
}

/**
 * Finds the pull requests to which another head offers the same change, of those whose reviews
 * depend on it.
 *
 * Cost: one round trip, and a merge for each that has reviews.
 *
 * @param baseOid The present value of a pull request's base; "" if it does not exist.
 * @returns Their ids.
 */
export async function findSameChanges(
  ctx: Ctx,
  repository: OpenRepository,
  all: readonly PullContext[],
  headOid: Oid,
  baseOid: (pull: PullContext) => Oid | "",
): Promise<ReadonlySet<number>> {
  const reviewed = await ctx.db
    .selectDistinct({ issueId: reviews.issueId })
    .from(reviews)
    .where(
      and(
        inArray(
          reviews.issueId,
          all.map(({ row }) => row.id),
        ),
        or(isSubmittedReview, eq(reviews.state, "pending")),
        eq(reviews.isStale, false),
      ),
    );
  const ids = new Set(reviewed.map(({ issueId }) => issueId));
  const same = new Set<number>();
  const budget = ctx.git.openBudget(STEPS_MAX);
  for (const pull of all) {
    if (!ids.has(pull.row.id)) continue;
    const pair = { baseOid: baseOid(pull), formerOid: pull.pull.headOid, headOid };
    if (await offersSameChange(ctx, repository, pair, budget)) same.add(pull.row.id);
  }
  return same;
}
