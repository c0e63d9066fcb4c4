import type { Ctx } from "../../context.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import type { OpenRepository } from "../../storage/open-repository.ts";
import type { HeadMove } from "../../storage/repository-records.ts";
import { pushRefs } from "./push-refs.ts";
import { type RefUpdateRequest, requireMoved, toCommand } from "./ref-update-request.ts";

/**
 * Moves refs, all or none, to objects that are there.
 *
 * Callers have judged the names and what is there; what is refused here has been changed by somebody
 * else meanwhile.
 *
 * @param headMove Where HEAD goes with the branch that it names.
 * @throws Failure `conflict` if one is refused; nothing is moved then.
 */
export async function updateRefs(
  ctx: Ctx,
  repo: RepositoryContext,
  repository: OpenRepository,
  updates: readonly RefUpdateRequest[],
  headMove?: HeadMove,
): Promise<void> {
  const results = await pushRefs(ctx, repo, {
    commands: updates.map(toCommand),
    isAtomic: true,
    repository,
    uploadId: undefined,
    pack: undefined,
    headMove,
  });
  requireMoved(results);
}
