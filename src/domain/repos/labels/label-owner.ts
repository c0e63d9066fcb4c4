import { and, eq, type SQL } from "drizzle-orm";

import { modeOf } from "../../../auth/access/permission.ts";
import type { Params } from "../../../db/prepared.ts";
import { ACCESS, labels, type Access, type User } from "../../../db/schema/index.ts";
import { forbidden, notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";

/** The owner of labels: a repository, or an organization for all its repositories. */
export type LabelOwner = { readonly repo: RepositoryContext } | { readonly org: User };

/** An owner as an argument of a query. */
export type LabelOwnerId = { readonly repoId: number } | { readonly orgId: number };

export const labelOwnerId = (owner: LabelOwner): LabelOwnerId =>
  "repo" in owner ? { repoId: owner.repo.row.id } : { orgId: owner.org.id };

/** The condition for the labels of an owner. */
export const isLabelOfId = (owner: Params<LabelOwnerId> | LabelOwnerId): SQL =>
  "repoId" in owner ? eq(labels.repoId, owner.repoId) : eq(labels.orgId, owner.orgId);

/** The condition for an ordinary query. */
const isLabelOf = (owner: LabelOwner): SQL => isLabelOfId(labelOwnerId(owner));

/** The condition for a label by its id. */
export const isLabelWithId = (owner: LabelOwner, id: number): SQL | undefined =>
  and(eq(labels.id, id), isLabelOf(owner));

/** The columns that name the owner. */
export const labelOwnerColumns = (owner: LabelOwner) =>
  "repo" in owner
    ? { repoId: owner.repo.row.id, orgId: null }
    : { repoId: null, orgId: owner.org.id };

/** The owner as events name it. */
export const labelEventOwner = (owner: LabelOwner) =>
  "repo" in owner
    ? { repoId: owner.repo.row.id, ownerId: owner.repo.row.ownerId }
    : { repoId: null, ownerId: owner.org.id };

/**
 * The caller's mode in the labels of a repository: the higher one of its issues and its pull
 * requests, which share them.
 */
const labelMode = (repo: RepositoryContext): Access =>
  Math.max(modeOf(repo, "issues"), modeOf(repo, "pulls")) as Access;

/**
 * Whether the caller may see the issues or the pull requests of a repository, and with them its
 * labels.
 */
export const isLabelReader = (repo: RepositoryContext): boolean => labelMode(repo) >= ACCESS.read;

/** Whether the caller may write to the issues or the pull requests of a repository. */
export const isLabelWriter = (repo: RepositoryContext): boolean => labelMode(repo) >= ACCESS.write;

/** @throws Failure `not_found` unless the caller may see the labels of a repository. */
export function requireLabelRead(repo: RepositoryContext): void {
  if (!isLabelReader(repo)) throw notFound();
}

/**
 * @throws Failure `not_found` as `requireLabelRead`, and `forbidden` unless the caller may write to
 * the issues or the pull requests.
 */
export function requireLabelWrite(repo: RepositoryContext): void {
  requireLabelRead(repo);
  if (!isLabelWriter(repo)) throw forbidden("user should have a permission to write to a repo");
}
