import { isAllowed } from "../../../../auth/access/permission.ts";
import { callerSql } from "../../../../auth/caller-sql.ts";
import type { Ctx } from "../../../../context.ts";
import { notFound } from "../../../../lib/failure.ts";
import type { RepositoryContext } from "../../../../shapes/repos/repository.ts";
import {
  isNamed,
  selectRepositories,
  toRepositoryContext,
} from "../../../repos/repository/find-repository.ts";
import type { HookOwner } from "../hooks/hook-owner.ts";

/**
 * Finds the repository that a webhook test is about.
 *
 * @param name `owner/name`, or only the name for a repository of the webhook's account.
 * @throws Failure `not_found` if the caller does not administer the repository, or if it does not
 *   belong to the webhook's account.
 */
export async function findTestRepository(
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
