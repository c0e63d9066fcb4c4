import { deleteTransfer } from "../../../auth/access/transfers.ts";
import { refuseBoundWrite } from "../../../auth/actor.ts";
import type { Ctx } from "../../../context.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { forbidden } from "../../../lib/failure.ts";
import type { PendingTransfer } from "../../../shapes/repos/repo-transfer.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { recordAuditIfChanged } from "../../people/audit/record-audit.ts";
import { findTransfer } from "../repository/find-transfer.ts";
import { moveRepository, notPending } from "./move-repository.ts";

/**
 * Accepts the pending transfer of a repository: it moves to the recipient.
 *
 * @throws Failure `not_found` if no transfer is pending, `forbidden` if it is offered to others,
 * and as `moveRepository` does.
 */
export async function acceptTransfer(
  ctx: Ctx,
  repo: RepositoryContext,
): Promise<RepositoryContext> {
  const { row, recipient } = await findOffered(ctx, repo);
  return moveRepository(ctx, repo, { newOwner: recipient, teamIds: row.teamIds, accepted: row });
}

/**
 * Rejects the pending transfer of a repository. The recipient may not read a private repository any
 * more.
 *
 * @throws Failure `not_found` if no transfer is pending, `forbidden` if it is offered to others.
 */
export async function rejectTransfer(
  ctx: Ctx,
  repo: RepositoryContext,
): Promise<RepositoryContext> {
  const { row, recipient } = await findOffered(ctx, repo);
  const [rejected] = await ctx.db.batch([
    deleteTransfer(ctx.db, repo.row.id, row),
    recordIfChanged(ctx, {
      type: "repository.transfer_rejected",
      repoId: repo.row.id,
      ownerId: repo.row.ownerId,
      recipientId: recipient.id,
    }),
    recordAuditIfChanged(ctx, {
      kind: "repository.transfer_rejected",
      repoId: repo.row.id,
      ownerId: repo.row.ownerId,
      target: recipient.name,
    }),
  ]);
  if (rejected.length === 0) throw notPending(repo.row);
  return { ...repo, pendingTransferTo: null };
}

/** Finds the pending transfer that the caller may accept or reject. */
async function findOffered(ctx: Ctx, repo: RepositoryContext): Promise<PendingTransfer> {
  if (!repo.pendingTransferTo) throw notPending(repo.row);
  // SECURITY: the recipient decides, also where an administrator of the site asks.
  if (repo.pendingTransferTo !== "caller") throw forbidden("permission denied");
  refuseBoundWrite(ctx.actor, ["write:repository"]);
  const transfer = await findTransfer(ctx, repo);
  if (!transfer) throw notPending(repo.row);
  return transfer;
}
