import { and, eq, sql, type AnyColumn, type SQL } from "drizzle-orm";

import { reaches } from "../../auth/access/people.ts";
import { TO_SEE } from "../../auth/access/requirement.ts";
import type { Ctx } from "../../context.ts";
import { isViolation } from "../../db/db.ts";
import {
  repositories,
  repositoryRedirects,
  stars,
  watches,
  type ExternalTracker,
  type IssueSettings,
  type PullSettings,
  type Repository,
} from "../../db/schema/index.ts";
import { record } from "../../events/record.ts";
import { encodeText } from "../../git/byte-text.ts";
import { differing } from "../../lib/differing.ts";
import { forbidden, invalid, notFound } from "../../lib/failure.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { checkBranchName } from "../branches/branch-name.ts";
import { findParent } from "./find-repository.ts";
import { checkRepositoryName } from "./repository-name.ts";

/** The units of a repository, as columns. */
const UNITS = [
  "hasCode",
  "hasIssues",
  "hasPullRequests",
  "hasReleases",
  "hasWiki",
  "hasProjects",
  "hasPackages",
  "hasActions",
] as const;

type Columns = Partial<
  Pick<
    Repository,
    | "name"
    | "description"
    | "website"
    | "isPrivate"
    | "isTemplate"
    | "defaultBranch"
    | "projectsMode"
    | "externalWikiUrl"
    | (typeof UNITS)[number]
  >
>;

/** What is to change; what is left out stays. */
export interface RepositoryEdit extends Columns {
  isArchived?: boolean;
  pullSettings?: Partial<PullSettings>;
  /** A tracker of null brings issues back here. */
  issueSettings?: Partial<Omit<IssueSettings, "external">> & { external?: ExternalTracker | null };
}

/**
 * Changes a repository.
 *
 * Each setting is changed by itself, so that two edits at once both take effect; one that is so
 * already is left alone, and told of to nobody. Going private takes the stars and watches of those who lose sight of it.
 *
 * @throws Failure `invalid` for a value that can't be, for a name that is taken, and when no unit
 * would be left.
 */
export async function editRepository(
  ctx: Ctx,
  { row, owner, permission }: RepositoryContext,
  wanted: RepositoryEdit,
): Promise<RepositoryContext> {
  // Here and not by whoever calls: each door that edits must keep to what the parent says.
  const parent = await findParent(ctx, row);
  const asked = asParent(wanted, parent?.row);
  checkEdit(row, asked);
  if (ctx.actor.scopes.isPublicOnly && asked.isPrivate) {
    throw forbidden("token scope is limited to public repos");
  }
  const edit = changesOf(row, asked);
  if (Object.keys(edit).length === 0) {
    // Somebody may have been cut off between the two places that know it.
    await setHead(ctx, row, asked.defaultBranch);
    return { row, owner, permission, parent };
  }
  const { isArchived, pullSettings, issueSettings, ...columns } = edit;
  const isThis = eq(repositories.id, row.id);
  const update = ctx.db
    .update(repositories)
    .set({
      ...columns,
      ...(edit.name !== undefined && { lowerName: edit.name.toLowerCase() }),
      ...(isArchived !== undefined && {
        archivedAt: isArchived ? (row.archivedAt ?? ctx.now) : null,
      }),
      ...(pullSettings && { pullSettings: patched(repositories.pullSettings, pullSettings) }),
      ...(issueSettings && { issueSettings: patched(repositories.issueSettings, issueSettings) }),
      updatedAt: ctx.now,
    })
    .where(isThis)
    .returning();
  try {
    const [, , updated] = await ctx.db.batch([
      // Before the update, so that the row it returns has them counted out.
      ...forgetOutsiders(ctx, row, edit),
      update,
      ...redirects(ctx, row, edit),
      record(ctx, {
        type: "repository.edited",
        repoId: row.id,
        ownerId: owner.id,
        changed: Object.keys(edit).toSorted(),
      }),
      ...announcements(ctx, row, edit),
    ]);
    const [edited] = updated;
    if (!edited) throw notFound();
    await setHead(ctx, row, asked.defaultBranch);
    return { row: edited, owner, permission, parent };
  } catch (error) {
    if (isViolation(error, "UNIQUE", "repositories.lower_name")) {
      throw invalid(`repository already exists [uname: ${owner.name}, name: ${edit.name}]`);
    }
    if (isViolation(error, "CHECK", "repositories_some_unit")) throw invalid(NO_UNIT);
    throw error;
  }
}

async function setHead({ git }: Ctx, repo: Repository, branch: string | undefined): Promise<void> {
  if (branch !== undefined) await git.repository(repo).setHead(`refs/heads/${encodeText(branch)}`);
}

/** SECURITY: a fork is private exactly if its parent is; its own setting would open what it shares. */
function asParent(edit: RepositoryEdit, parent: Repository | undefined): RepositoryEdit {
  const isOverridden = parent !== undefined && edit.isPrivate !== undefined;
  return isOverridden ? { ...edit, isPrivate: parent.isPrivate } : edit;
}

const NO_UNIT = "at least one unit must stay enabled";

function checkEdit(repo: Repository, edit: RepositoryEdit): void {
  if (edit.name !== undefined) checkRepositoryName(edit.name);
  if (edit.defaultBranch !== undefined) checkBranchName(edit.defaultBranch, "DefaultBranch");
  if (!UNITS.some((unit) => edit[unit] ?? repo[unit])) throw invalid(NO_UNIT);
  if (repo.isMirror && edit.isArchived !== undefined) {
    throw invalid("repo is a mirror, cannot archive/un-archive");
  }
  const pulls = { ...repo.pullSettings, ...edit.pullSettings };
  const isAllowed = {
    merge: pulls.allowMergeCommits,
    rebase: pulls.allowRebase,
    "rebase-merge": pulls.allowRebaseExplicit,
    squash: pulls.allowSquashMerge,
    "fast-forward-only": pulls.allowFastForwardOnlyMerge,
  }[pulls.defaultMergeStyle];
  if (edit.pullSettings?.defaultMergeStyle !== undefined && !isAllowed) {
    throw invalid(`the default merge style ${pulls.defaultMergeStyle} is not allowed here`);
  }
}

/** A JSON column with some of its fields replaced, whatever the others are by now. */
const patched = (column: AnyColumn, fields: object): SQL =>
  sql`json_patch(${column}, ${JSON.stringify(fields)})`;

function redirects(ctx: Ctx, repo: Repository, edit: RepositoryEdit) {
  const lowerName = edit.name?.toLowerCase();
  if (lowerName === undefined || lowerName === repo.lowerName) return [];
  const taken = and(
    eq(repositoryRedirects.ownerId, repo.ownerId),
    eq(repositoryRedirects.lowerName, lowerName),
  );
  return [
    ctx.db.delete(repositoryRedirects).where(taken),
    ctx.db
      .insert(repositoryRedirects)
      .values({ ownerId: repo.ownerId, lowerName: repo.lowerName, repoId: repo.id })
      .onConflictDoUpdate({
        target: [repositoryRedirects.ownerId, repositoryRedirects.lowerName],
        set: { repoId: repo.id },
      }),
  ];
}

/** What of an edit is not so already. */
function changesOf(
  repo: Repository,
  { isArchived, pullSettings = {}, issueSettings = {}, ...columns }: RepositoryEdit,
): RepositoryEdit {
  const pulls = differing(repo.pullSettings, pullSettings);
  const issues = differing({ external: null, ...repo.issueSettings }, issueSettings);
  const isOtherwise = isArchived !== undefined && isArchived !== (repo.archivedAt !== null);
  return {
    ...differing(repo, columns),
    ...(isOtherwise && { isArchived }),
    ...(Object.keys(pulls).length > 0 && { pullSettings: pulls }),
    ...(Object.keys(issues).length > 0 && { issueSettings: issues }),
  };
}

function announcements(ctx: Ctx, repo: Repository, edit: RepositoryEdit) {
  const { id: repoId, ownerId } = repo;
  const list = [];
  if (edit.name !== undefined && edit.name !== repo.name) {
    const names = { from: repo.name, to: edit.name };
    list.push(record(ctx, { type: "repository.renamed", repoId, ownerId, ...names }));
  }
  if (edit.isPrivate !== undefined && edit.isPrivate !== repo.isPrivate) {
    const { isPrivate } = edit;
    list.push(record(ctx, { type: "repository.visibility_changed", repoId, ownerId, isPrivate }));
  }
  return list;
}

/** Removes what people who may not see the repository keep of it, where the edit makes it private. */
function forgetOutsiders(ctx: Ctx, repo: Repository, edit: RepositoryEdit) {
  const isHidden = sql`${edit.isPrivate === true}`;
  const hidden: Repository = { ...repo, isPrivate: true, visibility: "private" };
  const isOutsider = (userId: AnyColumn) => sql`not ${reaches(sql`${userId}`, hidden, TO_SEE)}`;
  return [
    ctx.db.delete(stars).where(and(isHidden, eq(stars.repoId, repo.id), isOutsider(stars.userId))),
    ctx.db
      .delete(watches)
      .where(and(isHidden, eq(watches.repoId, repo.id), isOutsider(watches.userId))),
  ] as const;
}
