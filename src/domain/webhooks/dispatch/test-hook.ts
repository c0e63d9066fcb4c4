import { and, eq, sql } from "drizzle-orm";

import { ANONYMOUS } from "../../../auth/actor.ts";
import type { Ctx } from "../../../context.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import {
  webhookEvents,
  hookDeliveries,
  hooks,
  OWNER_PERMISSION,
} from "../../../db/schema/index.ts";
import type { PayloadContext } from "../../../events/webhooks/payloads/payload-context.ts";
import { toPushPayload } from "../../../events/webhooks/payloads/push-payload.ts";
import { openReceiver } from "../../../events/webhooks/payloads/open-receiver.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { readCommits } from "../../commits/read-commits.ts";
import { findRevision, type Revision } from "../../git/find-revision.ts";
import { openSnapshot } from "../../git/open-snapshot.ts";
import { type HookOwner, belongsTo } from "../hooks/hook-owner.ts";
import { PUSHED_PARTS } from "./read-pushed.ts";

/**
 * Lets a hook be told of a push that changed nothing, to this one alone. One that is told
 * of no pushes is not told of this one either.
 *
 * @param entry    Where the push is to be: in the repository whose hook it is, or one of its owner's.
 * @param revision What the push is to lead to; the default branch where it says nothing.
 * @throws Failure `not_found` for a hook that is not there, for a revision that is not, and where the
 * repository is empty.
 */
export async function testHook(
  ctx: Ctx,
  hookOwner: HookOwner,
  repo: RepositoryContext,
  hookId: number,
  revision: string,
): Promise<void> {
  const { row } = repo;
  const snapshot = await openSnapshot(ctx, repo);
  if (snapshot.state.refs.length === 0) throw notFound("repository is empty");
  const found = findRevision(
    snapshot,
    revision === "" ? `refs/heads/${row.defaultBranch}` : revision,
  );
  if (!found) throw notFound();

  const { db, now, actor } = ctx;
  const ref = fullNameOf(found);
  const { commitOid } = found;
  // SECURITY: as nobody in particular, like everything that hooks are told.
  const anyone: Ctx = { ...ctx, actor: ANONYMOUS };
  const [commit] = await readCommits(anyone, snapshot, [found.node], PUSHED_PARTS);
  const occasion: PayloadContext = {
    where: { row, owner: repo.owner, permission: OWNER_PERMISSION },
    sender: actor.user,
    viewer: openReceiver(ctx),
  };
  const payload = toPushPayload(occasion, {
    ref,
    before: commitOid,
    after: commitOid,
    commits: commit ? [commit] : [],
    total: 1,
    head: commit,
  });
  const isHere = and(eq(hooks.id, hookId), belongsTo(hookOwner));
  const [[hook], told] = await db.batch([
    db.select({ id: hooks.id }).from(hooks).where(isHere),
    // Whoever asks for it does not wait for a receiver to be tried again. What follows depends on it.
    db
      .update(hooks)
      .set({ backoffUntil: null })
      .where(
        and(isHere, sql`exists (select 1 from json_each(${hooks.events}) where value = 'push')`),
      ),
    recordIfChanged(ctx, {
      type: "hook.tested",
      repoId: row.id,
      ownerId: row.ownerId,
      hookId,
      ref,
      commitOid,
    }),
    insertSelect(
      db,
      webhookEvents,
      {
        eventId: sql`last_insert_rowid()`,
        part: 0,
        event: "push",
        repoId: row.id,
        payload,
        createdAt: now,
      },
      sql`where changes() > 0`,
    ),
    insertSelect(
      db,
      hookDeliveries,
      {
        hookId,
        webhookEventId: sql`last_insert_rowid()`,
        uuid: crypto.randomUUID(),
        event: "push",
        isRequested: true,
        nextAttemptAt: now,
        createdAt: now,
        updatedAt: now,
      },
      sql`where changes() > 0`,
    ),
  ]);
  if (!hook) throw notFound();
  if (told.meta.changes > 0) ctx.defer(ctx.eventQueues.deliverSoon([hookId]));
}

function fullNameOf({ kind, name }: Revision): string {
  if (kind === "branch") return `refs/heads/${name}`;
  return kind === "tag" ? `refs/tags/${name}` : name;
}
