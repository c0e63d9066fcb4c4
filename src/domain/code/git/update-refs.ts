import type { Ctx } from "../../../context.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { BranchRename } from "../protections/branch-rule.ts";
import type { HeadMove, HeldLease, PushedMerge } from "../../../storage/repository-records.ts";
import type { RepositorySnapshot } from "./open-snapshot.ts";
import { type Adopted, type PushCause, pushRefs, withAdopted } from "./push-refs.ts";
import { type RefUpdateRequest, requireUpdated, toCommand } from "./ref-update-request.ts";

interface UpdateOptions {
  /**
   * The packs that the updates take from another repository of the network; the snapshot has them
   * open.
   */
  readonly adopted?: Adopted | undefined;
  /** Moves HEAD along with the branch it points at. */
  readonly headMove?: HeadMove | undefined;
  /** The branch that the updates rename. */
  readonly rename?: BranchRename | undefined;
  readonly cause?: PushCause;
  /** The merges of pull requests that the updates make. */
  readonly merges?: readonly PushedMerge[];
  readonly lease?: HeldLease;
}

/**
 * Atomically updates refs to existing objects.
 *
 * Callers have validated the names and the current state, so an update is refused here only because
 * of a concurrent one.
 *
 * @throws Failure `conflict` if any update is refused, ProtectedRef if a rule refuses it; none is
 *   applied then.
 */
export async function updateRefs(
  ctx: Ctx,
  repo: RepositoryContext,
  { state, repository }: RepositorySnapshot,
  updates: readonly RefUpdateRequest[],
  { adopted, headMove, rename, cause = "push", merges, lease }: UpdateOptions = {},
): Promise<void> {
  const results = await pushRefs(ctx, repo, {
    cause,
    commands: updates.map(toCommand),
    isAtomic: true,
    repository,
    reachable: repository.reachableFrom(withAdopted(state, adopted)),
    uploadId: undefined,
    pack: undefined,
    adopted,
    headMove,
    rename,
    merges,
    lease,
  });
  requireUpdated(results);
}
