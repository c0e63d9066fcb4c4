import { eq, sql } from "drizzle-orm";

import { isAllowed } from "../../../../auth/access/permission.ts";
import type { Ctx } from "../../../../context.ts";
import { pullMirrors } from "../../../../db/schema/index.ts";
import { Failure } from "../../../../lib/failure.ts";
import type { RepositoryContext } from "../../../../shapes/repos/repository.ts";
import { requireNotArchived } from "../../../issues/issue/require-issue-access.ts";
import { requireMirrors } from "../require-mirrors.ts";

/**
 * Asks for the synchronization of a mirror. A job does it soon.
 *
 * A paused mirror goes on with it; an administrator also confirms it by that.
 *
 * @throws Failure `malformed` where mirrors are switched off, and for a repository that is none;
 *   `locked` if it is archived.
 */
export async function requestSync(ctx: Ctx, repo: RepositoryContext): Promise<void> {
  requireMirrors(ctx);
  requireNotArchived(repo);
  if (!repo.row.isMirror) throw new Failure("malformed", "Repository is not a mirror");
  const { actor, db } = ctx;
  const confirms =
    actor.user && !actor.scopes.isPublicOnly && isAllowed(repo, { mode: "admin" })
      ? { approverId: actor.user.id }
      : {};
  const now = Date.now();
  await db
    .update(pullMirrors)
    .set({
      ...confirms,
      dueAt: now,
      // The days of its failures are counted anew.
      failingSince: sql`iif(${pullMirrors.state} = 'paused', ${now}, ${pullMirrors.failingSince})`,
      state: sql`iif(${pullMirrors.state} = 'paused', 'failing', ${pullMirrors.state})`,
    })
    .where(eq(pullMirrors.repoId, repo.row.id));
  ctx.defer(ctx.remoteJobs.send([{ kind: "pull-mirror", repoId: repo.row.id }]));
}
