import { and, eq, sql } from "drizzle-orm";

import { ANONYMOUS } from "../../../../auth/actor.ts";
import type { Ctx } from "../../../../context.ts";
import { batch } from "../../../../db/batch.ts";
import { insertSelect } from "../../../../db/insert-select.ts";
import {
  webhookEvents,
  hookDeliveries,
  hooks,
  OWNER_PERMISSION,
} from "../../../../db/schema/index.ts";
import type { PayloadContext } from "../../../../events/webhooks/payloads/payload-context.ts";
import { toPushPayload } from "../../../../events/webhooks/payloads/push-payload.ts";
import { openReceiver } from "../../../../events/webhooks/payloads/open-receiver.ts";
import { recordIfChanged } from "../../../../events/record.ts";
import { notFound } from "../../../../lib/failure.ts";
import type { RepositoryContext } from "../../../../shapes/repos/repository.ts";
import { readCommits } from "../../../code/commits/read-commits.ts";
import { findRevision, type Revision } from "../../../code/git/find-revision.ts";
import { noSuchRef } from "../../../code/git/no-such-ref.ts";
import { hasRefs, openSnapshot } from "../../../code/git/open-snapshot.ts";
import { type HookOwner, belongsTo } from "../hooks/hook-owner.ts";
import { PUSHED_PARTS } from "./read-pushed-commits.ts";

/**
 * Sends a sample push event, without changes, to one hook. Sends nothing to a hook that is not
 * subscribed to pushes.
 *
 * @param repo     The repository of the sample push: the hook's repository, or one of the hook's
 *   owner.
 * @param revision The revision of the sample push; "" for the default branch.
 * @throws Failure `not_found` if the hook or the revision does not exist, or if the repository is
 *   empty.
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
  if (!hasRefs(snapshot.state)) throw noSuchRef(snapshot, "repository is empty");
  const found = await findRevision(
    snapshot,
    revision === "" ? `refs/heads/${row.defaultBranch}` : revision,
  );
  if (!found) throw noSuchRef(snapshot);

  const { db, now, actor } = ctx;
  const ref = fullNameOf(found);
  const { commitOid } = found;
  // SECURITY: read as an anonymous caller, like all payloads.
  const anonymousCtx: Ctx = { ...ctx, actor: ANONYMOUS };
  const [commit] = await readCommits(anonymousCtx, snapshot, [found.node], PUSHED_PARTS);
  const payloadContext: PayloadContext = {
    repo: { row, owner: repo.owner, permission: OWNER_PERMISSION },
    sender: actor.user,
    viewer: openReceiver(ctx),
  };
  const payload = toPushPayload(payloadContext, {
    ref,
    before: commitOid,
    after: commitOid,
    commits: commit ? [commit] : [],
    total: 1,
    head: commit,
  });
  const isRequestedHook = and(eq(hooks.id, hookId), belongsTo(hookOwner));
  const { matching, reset } = await batch(db, {
    matching: db.select({ id: hooks.id }).from(hooks).where(isRequestedHook),
    // A requested test does not wait for the backoff. The statements that follow depend on this
    // update.
    reset: db
      .update(hooks)
      .set({ backoffUntil: null })
      .where(
        and(
          isRequestedHook,
          sql`exists (select 1 from json_each(${hooks.events}) where value = 'push')`,
        ),
      ),
    event: recordIfChanged(ctx, {
      type: "hook.tested",
      repoId: row.id,
      ownerId: row.ownerId,
      hookId,
      ref,
      commitOid,
    }),
    webhookEvent: insertSelect(
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
    delivery: insertSelect(
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
  });
  if (matching.length === 0) throw notFound();
  if (reset.meta.changes > 0) ctx.defer(ctx.eventQueues.deliverSoon([hookId]));
}

function fullNameOf({ kind, name }: Revision): string {
  if (kind === "branch") return `refs/heads/${name}`;
  return kind === "tag" ? `refs/tags/${name}` : name;
}
