import { eq, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { allOf } from "../../../../db/db.ts";
import { events, pushMirrors } from "../../../../db/schema/index.ts";
import type { Consequence } from "../../../../events/consequence.ts";
import type { RepositoryContext } from "../../../../shapes/repos/repository.ts";
import { requireNotArchived } from "../../../issues/issue/require-issue-access.ts";
import { requireMirrorApprover, requireMirrors } from "../require-mirrors.ts";

/**
 * Asks for the synchronization of all push mirrors of a repository. Jobs do it soon.
 *
 * Paused ones go on with it, and the caller answers for all of them from now on.
 *
 * @throws Failure `malformed` where mirrors are switched off, `locked` in an archived repository,
 * `forbidden` for a narrowed token.
 */
export async function requestPushes(ctx: Ctx, repo: RepositoryContext): Promise<void> {
  requireMirrors(ctx);
  requireNotArchived(repo);
  const approver = requireMirrorApprover(ctx);
  const now = Date.now();
  const mirrors = await makeDue(ctx, eq(pushMirrors.repoId, repo.row.id), now, {
    approverId: approver.id,
    failingSince: sql`iif(${pushMirrors.state} = 'paused', ${now}, ${pushMirrors.failingSince})`,
    state: sql`iif(${pushMirrors.state} = 'paused', 'failing', ${pushMirrors.state})`,
  });
  ctx.defer(send(ctx, mirrors));
}

/** Pushes to the mirrors that follow each push at once. */
export const followPushes: Consequence = {
  name: "push-mirrors",
  kinds: ["repository.pushed"],
  // A mirror follows the pushes that come after it.
  isNeeded: sql`exists (
    select 1 from ${pushMirrors} where ${pushMirrors.repoId} = ${events.repoId}
  )`,
  async handle(ctx, { event }, budget) {
    if (event.type !== "repository.pushed" || !ctx.config.mirrors.isOn) return undefined;
    if (!event.updates.some(({ ref }) => /^refs\/(?:heads|tags)\//.test(ref))) return undefined;
    budget.consume(1);
    const follows = allOf(
      eq(pushMirrors.repoId, event.repoId),
      eq(pushMirrors.syncsOnCommit, true),
      sql`${pushMirrors.state} <> 'paused'`,
    );
    await send(ctx, await makeDue(ctx, follows, Date.now()));
    return undefined;
  },
};

const makeDue = (ctx: Ctx, isOne: SQL, now: number, more: object = {}) =>
  ctx.db
    .update(pushMirrors)
    .set({ ...more, dueAt: now })
    .where(isOne)
    .returning({ id: pushMirrors.id });

const send = (ctx: Ctx, mirrors: readonly { id: number }[]): Promise<void> =>
  ctx.remoteJobs.send(mirrors.map(({ id }) => ({ kind: "push-mirror", mirrorId: id })));
