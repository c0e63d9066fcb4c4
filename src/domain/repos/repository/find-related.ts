import type { Ctx } from "../../../context.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { findTransfer } from "./find-transfer.ts";
import { findParent } from "./find-repository.ts";

/**
 * Adds to a repository what its own record shows beside its row: its parent and its pending
 * transfer.
 *
 * Cost: one round trip for a fork or a repository with a pending transfer, else none.
 */
export async function findRelated(ctx: Ctx, repo: RepositoryContext): Promise<RepositoryContext> {
  const [parent, transfer] = await Promise.all([
    findParent(ctx, repo.row),
    findTransfer(ctx, repo),
  ]);
  return { ...repo, parent, transfer };
}
