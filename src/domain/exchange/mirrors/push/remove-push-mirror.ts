import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { pushMirrors } from "../../../../db/schema/index.ts";
import { recordIfChanged } from "../../../../events/record.ts";
import { notFound } from "../../../../lib/failure.ts";
import type { RepositoryContext } from "../../../../shapes/repos/repository.ts";
import { recordAuditIfChanged } from "../../../people/audit/record-audit.ts";
import { requireNotArchived } from "../../../issues/issue/require-issue-access.ts";
import { requireMirrors } from "../require-mirrors.ts";

/**
 * Removes a push mirror. Pushed data stays on the remote.
 *
 * @throws Failure `not_found` if the repository has none of this name; `malformed` where mirrors
 * are switched off; `locked` in an archived repository.
 */
export async function removePushMirror(
  ctx: Ctx,
  repo: RepositoryContext,
  remoteName: string,
): Promise<void> {
  requireMirrors(ctx);
  requireNotArchived(repo);
  const { id: repoId, ownerId } = repo.row;
  const [removed] = await ctx.db.batch([
    ctx.db
      .delete(pushMirrors)
      .where(and(eq(pushMirrors.repoId, repoId), eq(pushMirrors.remoteName, remoteName)))
      .returning({ id: pushMirrors.id }),
    recordIfChanged(ctx, { type: "push_mirror.removed", repoId, ownerId, remoteName }),
    recordAuditIfChanged(ctx, {
      kind: "push_mirror.removed",
      repoId,
      ownerId,
      target: remoteName,
    }),
  ]);
  if (removed.length === 0) throw notFound("push mirror does not exist");
}
