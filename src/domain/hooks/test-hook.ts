import { sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { ACCESS, announcements, hookDeliveries } from "../../db/schema/index.ts";
import type { Occasion } from "../../events/payloads/occasion.ts";
import { toPushPayload } from "../../events/payloads/push-payload.ts";
import { record } from "../../events/record.ts";
import { notFound } from "../../lib/failure.ts";
import type { RepositoryEntry } from "../../shapes/repository.ts";
import { readCommits } from "../commits/read-commits.ts";
import { findRevision, type Revision } from "../git/find-revision.ts";
import { openCode } from "../git/open-code.ts";
import { findHook } from "./find-hook.ts";
import { openReceiver } from "./read-payload.ts";
import { PUSHED_PARTS } from "./read-pushed.ts";

/**
 * Lets a repository's hook be told of a push that changed nothing, to this one alone. One that is told
 * of no pushes is not told of this one either.
 *
 * @param revision What the push is to lead to; the default branch where it says nothing.
 * @throws Failure `not_found` for a hook that is not there, for a revision that is not, and where the
 * repository is empty.
 */
export async function testHook(
  ctx: Ctx,
  entry: RepositoryEntry,
  id: number,
  revision: string,
): Promise<void> {
  const { repo } = entry;
  const code = await openCode(ctx, entry);
  if (code.snapshot.refs.length === 0) throw notFound("repository is empty");
  const found = findRevision(code, revision === "" ? `refs/heads/${repo.defaultBranch}` : revision);
  if (!found) throw notFound();
  const [hook, [commit]] = await Promise.all([
    findHook(ctx, { level: "repository", repo }, id),
    readCommits(ctx, code, [found.node], PUSHED_PARTS),
  ]);
  if (!hook.events.includes("push")) return;

  const { db, now, actor } = ctx;
  const { id: hookId } = hook;
  const ref = fullNameOf(found);
  const { commitOid } = found;
  const occasion: Occasion = {
    where: { ...entry, access: ACCESS.owner },
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
  await db.batch([
    record(ctx, {
      type: "hook.tested",
      repoId: repo.id,
      ownerId: repo.ownerId,
      hookId,
      ref,
      commitOid,
    }),
    db.insert(announcements).values({
      eventId: sql`last_insert_rowid()`,
      part: 0,
      event: "push",
      repoId: repo.id,
      payload,
      createdAt: now,
    }),
    db.insert(hookDeliveries).values({
      hookId,
      announcementId: sql`last_insert_rowid()`,
      uuid: crypto.randomUUID(),
      event: "push",
      isRequested: true,
      nextAttemptAt: now,
      createdAt: now,
      updatedAt: now,
    }),
  ]);
  ctx.defer(ctx.eventQueues.deliverSoon([hookId]));
}

function fullNameOf({ kind, name }: Revision): string {
  if (kind === "branch") return `refs/heads/${name}`;
  return kind === "tag" ? `refs/tags/${name}` : name;
}
