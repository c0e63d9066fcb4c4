import { eq } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { openReceiver } from "../../events/webhooks/payloads/open-receiver.ts";
import { OWNER_PERMISSION, repositories } from "../../db/schema/index.ts";
import { toRepositoryPayload } from "../../events/webhooks/payloads/repository-payload.ts";
import { recordIfChanged } from "../../events/record.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { recordAuditIfChanged } from "../audit/record-audit.ts";
import { addShardTasks, hasCopyOf } from "../shards/add-shard-tasks.ts";
import { inDirectory } from "../shards/in-directory.ts";
import { ownStatements } from "../shards/own-statements.ts";
import { removalStep, removeRemains } from "./remove-remains.ts";

/**
 * Deletes a repository with all rows that belong to it alone: stars, watches, roles, deploy keys, redirects,
 * and its entries in bound tokens. Forks stay and lose their parent.
 *
 * Foreign keys cascade the deletion, so that no table is missed and a later repository of the same name
 * inherits nothing. Refs and packs are removed by a job. What may be too much for one statement, which are issues and all
 * that belongs to them, goes in steps: the first is part of the batch, some follow the answer, and the schedule continues.
 * In a shard they all follow, when the copy of its row is gone there.
 */
export async function deleteRepository(callerCtx: Ctx, repo: RepositoryContext): Promise<void> {
  const ctx = inDirectory(callerCtx);
  const { row, owner } = repo;
  const viewer = openReceiver(ctx);
  // SECURITY: the stored event contains the webhook payload, built with the owner's permission as for every
  // hook, rather than the row, which has columns that are never sent to anybody.
  const where: RepositoryContext = { row, owner, permission: OWNER_PERMISSION };
  const results: unknown[] = await ctx.db.batch([
    // Before the deletion, with which the shard's entry goes.
    ...addShardTasks(ctx, { kind: "remains", repoId: row.id }, hasCopyOf(row.id)),
    ctx.db.delete(repositories).where(eq(repositories.id, row.id)),
    recordIfChanged(ctx, {
      type: "repository.deleted",
      repoId: row.id,
      ...(row.shard !== 0 && { shard: row.shard }),
      ownerId: owner.id,
      name: row.name,
      lastPayload: toRepositoryPayload({ repo: where, sender: ctx.actor.user, viewer }, "deleted"),
    }),
    recordAuditIfChanged(ctx, {
      kind: "repository.deleted",
      ownerId: owner.id,
      repoId: row.id,
      target: `${owner.name}/${row.name}`,
    }),
    // Those in the first database, which has notifications about all repositories.
    ...ownStatements(ctx, undefined, (own) => removalStep(own, row.id)),
  ] as never);
  // A trigger has recorded the discarded objects; if this message is lost, the schedule sends another.
  ctx.defer(ctx.git.maintainLater(row));
  const [lastOfRemains] = results.at(-1) as { repoId: number }[];
  if (!lastOfRemains) ctx.defer(removeRemains(ctx, row.id));
}
