import { and, eq, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { openReceiver } from "../../../events/webhooks/payloads/open-receiver.ts";
import { OWNER_PERMISSION, repositories } from "../../../db/schema/index.ts";
import { toRepositoryPayload } from "../../../events/webhooks/payloads/repository-payload.ts";
import { recordIfChanged } from "../../../events/record.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { wikiLocation } from "../../code/wiki/to-wiki.ts";
import { recordAuditIfChanged } from "../../people/audit/record-audit.ts";
import { removalStep, removeRemains } from "./remove-remains.ts";

/**
 * Deletes a repository with all rows that belong to it alone: stars, watches, roles, deploy keys,
 * redirects, and its entries in bound tokens. Forks stay and lose their parent.
 *
 * Foreign keys cascade the deletion, so that no table is missed and a later repository of the same
 * name inherits nothing. Refs and packs are removed by a job. What may be too much for one
 * statement, which are issues and all that belongs to them, goes in steps: the first is part of the
 * batch, some follow the answer, and the schedule continues.
 *
 * @param isDue A condition that must still hold, over its row.
 * @returns False if another request has deleted it meanwhile, or if the condition does not hold.
 */
export async function deleteRepository(
  ctx: Ctx,
  repo: RepositoryContext,
  isDue?: SQL,
): Promise<boolean> {
  const { row, owner } = repo;
  const viewer = openReceiver(ctx);
  // SECURITY: the stored event contains the webhook payload, built with the owner's permission as
  // for every hook, rather than the row, which has columns that are never sent to anybody.
  const where: RepositoryContext = { row, owner, permission: OWNER_PERMISSION };
  const { deleted, completed } = await batch(ctx.db, {
    deleted: ctx.db
      .delete(repositories)
      .where(and(eq(repositories.id, row.id), isDue))
      .returning({ id: repositories.id }),
    event: recordIfChanged(ctx, {
      type: "repository.deleted",
      repoId: row.id,
      ownerId: owner.id,
      name: row.name,
      lastPayload: toRepositoryPayload({ repo: where, sender: ctx.actor.user, viewer }, "deleted"),
    }),
    audit: recordAuditIfChanged(ctx, {
      kind: "repository.deleted",
      ownerId: owner.id,
      repoId: row.id,
      target: `${owner.name}/${row.name}`,
    }),
    ...removalStep(ctx, row.id),
  });
  if (deleted.length === 0) return false;
  // A trigger has recorded the discarded objects; if this message is lost, the schedule sends
  // another.
  ctx.defer(ctx.git.maintainLater(row));
  if (row.wikiBranch !== "") ctx.defer(ctx.git.maintainLater(wikiLocation(row)));
  if (completed.length === 0) ctx.defer(removeRemains(ctx, row.id));
  return true;
}
