import { asBlocked } from "../../../auth/access/blocks.ts";
import {
  deleteTransfer,
  insertTransfer,
  OFFER_REFUSALS,
  selectTeamsById,
} from "../../../auth/access/transfers.ts";
import { refuseBoundWrite } from "../../../auth/actor.ts";
import type { Ctx } from "../../../context.ts";
import { isViolation } from "../../../db/db.ts";
import type { User } from "../../../db/schema/index.ts";
import { record, recordIfChanged } from "../../../events/record.ts";
import { conflict, forbidden, invalid, notFound } from "../../../lib/failure.ts";
import type { PendingTransfer } from "../../../shapes/repos/repo-transfer.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { findSeenAccountRow, toMembership } from "../../people/accounts/find-account.ts";
import { recordAudit, recordAuditIfChanged } from "../../people/audit/record-audit.ts";
import { hasRoom, limitReached } from "../repository/repository-limit.ts";
import { findTransfer } from "../repository/find-transfer.ts";
import { alreadyOffered, moveRepository, nameTaken } from "./move-repository.ts";

/** Teams that one transfer may name. */
export const TRANSFER_TEAMS_MAX = 100;

/** The outcome of a transfer. */
export interface StartedTransfer {
  readonly repo: RepositoryContext;
  /** Whether the recipient has yet to accept. */
  readonly isPending: boolean;
}

/**
 * Transfers a repository. It moves at once where the caller administers the site, is the new owner,
 * or may create repositories in the new owner's organization; otherwise it is offered, and the
 * recipient may read it until they accept or reject. Offering it to its owner ends a pending
 * transfer.
 *
 * @param doer    The caller, who owns the repository or its organization.
 * @param name    The name of the new owner.
 * @param teamIds Teams of the new owner that are to reach it.
 * @throws Failure `not_found` for a new owner that the caller may not see; `invalid` for teams that
 * are not the new owner's and for a name that is taken; `conflict` while another transfer is
 * pending; `forbidden` where the new owner blocks the caller or has the maximum number of
 * repositories, and for tokens that reach less than both sides.
 */
export async function startTransfer(
  ctx: Ctx,
  repo: RepositoryContext,
  doer: User,
  { name, teamIds }: { name: string; teamIds: readonly number[] },
): Promise<StartedTransfer> {
  refuseBoundWrite(ctx.actor, ["write:repository"]);
  const [found, teams, pending] = await Promise.all([
    findSeenAccountRow(ctx, name),
    teamIds.length > 0 ? selectTeamsById(ctx.db, teamIds, doer.id) : [],
    findTransfer(ctx, repo),
  ]);
  if (!found) throw notFound("The new owner does not exist or cannot be found");
  const { account: newOwner } = found;
  if (newOwner.id === repo.owner.id) {
    if (!pending) throw nameTaken(newOwner, repo.row);
    return { repo: await cancelTransfer(ctx, repo, pending), isPending: false };
  }
  if (ctx.actor.scopes.isPublicOnly && newOwner.visibility !== "public") {
    throw forbidden("token scope is limited to public repos");
  }
  if (teamIds.length > 0 && newOwner.kind !== "organization") {
    throw invalid("Teams can only be added to organization-owned repositories");
  }
  for (const id of teamIds) {
    const team = teams.find((each) => each.team.id === id);
    // SECURITY: a team that the caller may not see is answered like one that does not exist.
    if (!team || !(team.isInOrg || ctx.actor.isSiteAdmin)) throw invalid(`team ${id} not found`);
    if (team.team.orgId !== newOwner.id) {
      throw forbidden(`team ${id} belongs not to org ${newOwner.id}`);
    }
  }
  const isAtOnce =
    ctx.actor.isSiteAdmin ||
    newOwner.id === doer.id ||
    (newOwner.kind === "organization" && toMembership(ctx.actor, found).canCreateRepository);
  if (isAtOnce) {
    return { repo: await moveRepository(ctx, repo, { newOwner, teamIds }), isPending: false };
  }
  const offer = { doer, recipient: newOwner, teams: teams.map(({ team }) => team) };
  return { repo: await offerRepository(ctx, repo, offer), isPending: true };
}

async function offerRepository(
  ctx: Ctx,
  repo: RepositoryContext,
  offer: Omit<PendingTransfer, "row">,
): Promise<RepositoryContext> {
  const { row } = repo;
  const { doer, recipient, teams } = offer;
  const transfer = {
    repoId: row.id,
    doerId: doer.id,
    recipientId: recipient.id,
    teamIds: teams.map(({ id }) => id),
    createdAt: ctx.now,
  };
  try {
    await ctx.db.batch([
      insertTransfer(ctx.db, row, transfer, hasRoom(ctx, recipient)),
      record(ctx, {
        type: "repository.transfer_started",
        repoId: row.id,
        ownerId: row.ownerId,
        recipientId: recipient.id,
      }),
      recordAudit(ctx, {
        kind: "repository.transfer_started",
        repoId: row.id,
        ownerId: row.ownerId,
        target: recipient.name,
      }),
    ]);
  } catch (error) {
    if (isViolation(error, "UNIQUE", "repository_transfers")) throw alreadyOffered(recipient, row);
    if (isViolation(error, "NOT NULL", OFFER_REFUSALS.nameTaken)) throw nameTaken(recipient, row);
    if (isViolation(error, "NOT NULL", OFFER_REFUSALS.noRoom)) throw limitReached(ctx, recipient);
    if (isViolation(error, "NOT NULL", OFFER_REFUSALS.stale)) {
      throw conflict("the repository was transferred meanwhile");
    }
    throw asBlocked(error, OFFER_REFUSALS.blocked);
  }
  return { ...repo, pendingTransferTo: "other", transfer: { ...offer, row: transfer } };
}

/** Ends a pending transfer: a repository that is transferred to its owner stays. */
async function cancelTransfer(
  ctx: Ctx,
  repo: RepositoryContext,
  { row, recipient }: PendingTransfer,
): Promise<RepositoryContext> {
  await ctx.db.batch([
    deleteTransfer(ctx.db, repo.row.id, row),
    recordIfChanged(ctx, {
      type: "repository.transfer_cancelled",
      repoId: repo.row.id,
      ownerId: repo.row.ownerId,
      recipientId: recipient.id,
    }),
    recordAuditIfChanged(ctx, {
      kind: "repository.transfer_cancelled",
      repoId: repo.row.id,
      ownerId: repo.row.ownerId,
      target: recipient.name,
    }),
  ]);
  return { ...repo, pendingTransferTo: null };
}
