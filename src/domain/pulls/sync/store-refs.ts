import type { Ctx } from "../../../context.ts";
import { Failure } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { findRef } from "../../code/git/open-snapshot.ts";
import { pullRefsOf } from "../../code/git/pull-refs.ts";
import type { RefUpdateRequest } from "../../code/git/ref-update-request.ts";

/**
 * Stores refs, and takes it for done if they have their values although it was refused: two jobs
 * may do the same work at once.
 *
 * @throws Failure `conflict` if one of them has another value.
 */
export async function storeRefsOnce(
  ctx: Ctx,
  { row }: RepositoryContext,
  updates: readonly RefUpdateRequest[],
  store: () => Promise<unknown>,
): Promise<void> {
  try {
    await store();
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== "conflict") throw error;
    const pulls = pullRefsOf(updates.map(({ ref }) => ref));
    const state = await ctx.git.repository(row).snapshot(pulls);
    if (!updates.every(({ ref, to }) => findRef({ state }, ref)?.oid === to)) throw error;
  }
}
