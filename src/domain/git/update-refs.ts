import type { Ctx } from "../../context.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import type { BranchRename } from "../protections/branch-rule.ts";
import type { HeadMove } from "../../storage/repository-records.ts";
import type { RepositorySnapshot } from "./open-snapshot.ts";
import { pushRefs } from "./push-refs.ts";
import { type RefUpdateRequest, requireUpdated, toCommand } from "./ref-update-request.ts";

/**
 * Atomically updates refs to existing objects.
 *
 * Callers have validated the names and the current state, so an update is refused here only because of a
 * concurrent one.
 *
 * @param options.headMove Moves HEAD along with the branch it points at.
 * @param options.rename The branch that the updates rename.
 * @throws Failure `conflict` if any update is refused, ProtectedRef if a rule refuses it; none is applied then.
 */
export async function updateRefs(
  ctx: Ctx,
  repo: RepositoryContext,
  { state, repository }: RepositorySnapshot,
  updates: readonly RefUpdateRequest[],
  options: { headMove?: HeadMove | undefined; rename?: BranchRename | undefined } = {},
): Promise<void> {
  const results = await pushRefs(ctx, repo, {
    commands: updates.map(toCommand),
    isAtomic: true,
    repository,
    reachable: repository.reachableFrom(state.refs),
    uploadId: undefined,
    pack: undefined,
    ...options,
  });
  requireUpdated(results);
}
