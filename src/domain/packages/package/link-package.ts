import { and, eq, isNull, sql } from "drizzle-orm";

import { isAllowed } from "../../../auth/access/permission.ts";
import type { Requirement } from "../../../auth/access/requirement.ts";
import type { Ctx } from "../../../context.ts";
import { packages, repositories } from "../../../db/schema/index.ts";
import { forbidden, malformed, notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { recordAuditIfChanged } from "../../people/audit/record-audit.ts";
import { findVisibleRepository } from "../../repos/repository/find-repository.ts";
import type { PackageContext } from "./find-package.ts";

const TO_LINK: Requirement = { unit: "packages", mode: "write" };

/**
 * Links a package to a repository of its owner. From then on those see the package who see the
 * repository.
 *
 * @throws Failure `not_found` for a repository that the caller may not see, or of another owner;
 * `forbidden` if they may not write its packages, which nobody may while its unit of packages is
 * disabled; `malformed` for a package that is linked.
 */
export async function linkPackage(ctx: Ctx, pkg: PackageContext, repoName: string): Promise<void> {
  const { row, owner } = pkg;
  const repo = await findVisibleRepository(ctx, owner.account.name, repoName);
  if (!repo) throw notFound("repository does not exist");
  if (!isAllowed(repo, TO_LINK)) {
    throw forbidden("user should have a permission to write packages of the repository");
  }
  const [linked] = await ctx.db.batch([
    ctx.db
      .update(packages)
      .set({ repoId: repo.row.id, isRestricted: false })
      .where(
        and(
          eq(packages.id, row.id),
          isNull(packages.repoId),
          // It may have been transferred since.
          sql`exists (
            select 1
            from ${repositories}
            where ${repositories.id} = ${repo.row.id} and ${repositories.ownerId} = ${row.ownerId}
          )`,
        ),
      )
      .returning({ id: packages.id }),
    recordAuditIfChanged(ctx, auditOf("package.linked", pkg, repo)),
  ]);
  if (linked.length === 0) throw malformed("the package is linked to a repository already");
}

/**
 * Takes a package off its repository: those see it again who see its owner.
 *
 * @throws Failure `malformed` for a package that is linked to none; `forbidden` for a caller who
 * may neither write the repository's packages nor administer it.
 */
export async function unlinkPackage(ctx: Ctx, pkg: PackageContext): Promise<void> {
  const { row, repo } = pkg;
  if (!repo) throw notLinked();
  if (!isAllowed(repo, TO_LINK) && !isAllowed(repo, { mode: "admin" })) {
    throw forbidden("user should have a permission to write packages of the repository");
  }
  const [unlinked] = await ctx.db.batch([
    ctx.db
      .update(packages)
      .set({ repoId: null })
      .where(and(eq(packages.id, row.id), eq(packages.repoId, repo.row.id)))
      .returning({ id: packages.id }),
    recordAuditIfChanged(ctx, auditOf("package.unlinked", pkg, repo)),
  ]);
  if (unlinked.length === 0) throw notLinked();
}

const notLinked = () => malformed("the package is linked to no repository");

const auditOf = (
  kind: "package.linked" | "package.unlinked",
  { row, owner }: PackageContext,
  repo: RepositoryContext,
) => ({
  kind,
  ownerId: owner.account.id,
  repoId: repo.row.id,
  target: `${row.type}/${row.name}`,
});
