import { and, desc, eq, sql } from "drizzle-orm";

import { accountActor } from "../../../auth/actor.ts";
import type { Ctx } from "../../../context.ts";
import { events, pulls, type User, users } from "../../../db/schema/index.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import { branchRef } from "../../code/branches/find-branch.ts";
import { findPull } from "../pull/find-pull.ts";
import { loadPulls } from "./load-pulls.ts";
import { moveHeads } from "./move-heads.ts";

/** Latest events of the head's repository that are searched for the push. */
const EVENTS_MAX = 100;

/** Whether a push has moved the branch of the head, and the pull request has not followed yet. */
export const isBehind = ({ headTip, pull }: PullContext): boolean =>
  headTip !== undefined && headTip !== pull.headOid;

/**
 * Moves the head of a pull request to its branch, as the job does that follows a push, in the name
 * of who pushed. The job then finds nothing to do.
 *
 * Cost: nothing unless the pull request is behind.
 *
 * @returns The pull request as it is now.
 */
export async function catchUp(ctx: Ctx, pull: PullContext): Promise<PullContext> {
  if (!isBehind(pull) || pull.row.isClosed) return pull;
  // SECURITY: these have the owner's permission. Only the head moves with them.
  const [loaded] = await loadPulls(ctx, eq(pulls.issueId, pull.row.id), 1);
  if (!loaded?.headRepo) return pull;
  const pusher = await findPusher(ctx, loaded);
  const actor = pusher ? accountActor(pusher) : ctx.actor;
  await moveHeads({ ...ctx, actor }, loaded.repo, loaded.headRepo, [loaded]);
  return findPull(ctx, pull.repo, pull.row.number);
}

/** Finds who pushed the present value of a head's branch. */
async function findPusher(
  { db }: Ctx,
  { pull, headTip, headRepo }: PullContext,
): Promise<User | undefined> {
  const recent = db
    .select({ id: events.id, actorId: events.actorId, payload: events.payload })
    .from(events)
    .where(and(eq(events.repoId, headRepo?.row.id ?? 0), eq(events.type, "repository.pushed")))
    .orderBy(desc(events.id))
    .limit(EVENTS_MAX)
    .as("recent");
  const [found] = await db
    .select({ user: users })
    .from(recent)
    .innerJoin(users, eq(users.id, recent.actorId))
    .where(
      sql`exists (
        select 1
        from json_each(${recent.payload}, '$.updates') each
        where each.value ->> 'ref' = ${branchRef(pull.headBranch)}
          and each.value ->> 'after' = ${headTip}
      )`,
    )
    .orderBy(desc(recent.id))
    .limit(1);
  return found?.user;
}
