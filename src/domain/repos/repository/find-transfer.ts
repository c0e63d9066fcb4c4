import { seesAccount } from "../../../auth/access/accounts.ts";
import { isAllowed } from "../../../auth/access/permission.ts";
import { selectTransfer, selectTransferTeams } from "../../../auth/access/transfers.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import type { PendingTransfer } from "../../../shapes/repos/repo-transfer.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";

/**
 * Finds the pending transfer of a repository; undefined if there is none, or the caller may not see
 * it.
 *
 * SECURITY: a caller who sees the repository may not see the recipient's account. Administrators of
 * the repository and the recipient know both anyway. Only members of the recipient see the teams.
 *
 * Cost: one query where a transfer is pending, else none.
 */
export async function findTransfer(
  ctx: Ctx,
  repo: RepositoryContext,
): Promise<PendingTransfer | undefined> {
  if (!repo.pendingTransferTo) return undefined;
  const { db, actor } = ctx;
  const { transfers, teams } = await batch(db, {
    transfers: selectTransfer(db, repo.row.id, actor.user?.id),
    teams: selectTransferTeams(db, repo.row.id),
  });
  const [found] = transfers;
  if (!found) return undefined;
  const { transfer: row, doer, recipient, isInRecipient } = found;
  const isParty = repo.pendingTransferTo === "caller" || isAllowed(repo, { mode: "admin" });
  const isShown =
    (isParty && !actor.scopes.isPublicOnly) ||
    (seesAccount(actor, doer, false) && seesAccount(actor, recipient, isInRecipient));
  if (!isShown) return undefined;
  const seesTeams = actor.isSiteAdmin || (isInRecipient && !actor.scopes.isPublicOnly);
  return { row, doer, recipient, teams: seesTeams ? teams : [] };
}
