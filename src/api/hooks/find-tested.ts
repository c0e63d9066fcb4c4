import { isAllowed } from "../../auth/access/permission.ts";
import { callerSql } from "../../auth/caller-sql.ts";
import type { Ctx } from "../../context.ts";
import { notFound } from "../../lib/failure.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import {
  isNamed,
  selectRepositories,
  toRepositoryContext,
} from "../../domain/repos/find-repository.ts";
import type { HookOwner } from "../../domain/webhooks/hooks/hook-owner.ts";

/**
 * The repository that a test of a hook is about.
 *
 * @param name Of one that belongs to the account whose hook it is; of any, `owner/name`.
 * @throws Failure `not_found` for one that the hookOwner has nothing to do with.
 */
export async function findTested(
  ctx: Ctx,
  hookOwner: HookOwner,
  name: string,
): Promise<RepositoryContext> {
  const [owner = "", rest = "", ...more] = name.split("/");
  const [ownerName, repoName] =
    rest === "" && "owner" in hookOwner ? [hookOwner.owner.name, owner] : [owner, rest];
  if (more.length > 0) throw notFound();
  const [row] = await selectRepositories(ctx.db, callerSql(ctx.actor)).where(
    isNamed(ownerName, repoName),
  );
  const repo = row && toRepositoryContext(ctx.actor, row);
  if (!repo || !isAllowed(repo, { mode: "admin" })) throw notFound();
  if ("owner" in hookOwner && repo.row.ownerId !== hookOwner.owner.id) throw notFound();
  return repo;
}
