import { and, eq, sql, type AnyColumn, type SQL } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { isViolation } from "../../../db/db.ts";
import {
  repositories,
  repositoryRedirects,
  type ExternalTracker,
  type IssueSettings,
  type PullSettings,
  type Repository,
  type RepositoryExpiry,
} from "../../../db/schema/index.ts";
import { record } from "../../../events/record.ts";
import { encodeText } from "../../../git/byte-text.ts";
import { differing } from "../../../lib/differing.ts";
import { forbidden, invalid, invalidField, notFound } from "../../../lib/failure.ts";
import { checkWebAddress, isWebAddress } from "../../../lib/web-address.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { recordAudit } from "../../people/audit/record-audit.ts";
import { checkBranchName } from "../../code/branches/branch-name.ts";
import { branchRef } from "../../code/branches/find-branch.ts";
import { findRef } from "../../code/git/open-snapshot.ts";
import { findRelated } from "./find-related.ts";
import { forksFollow } from "../../people/visibility/fork-visibility.ts";
import { changeExpiry, type ExpiryInput, requireExpiryAccess } from "./expiry.ts";
import { deleteOutsiderToggles } from "./outsider-toggles.ts";
import { checkRepositoryName } from "./repository-name.ts";

/** The columns that enable a repository's units. */
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

/** The changes to a repository; omitted fields keep their value. */
export interface RepositoryEdit extends Columns {
  isArchived?: boolean;
  expiry?: ExpiryInput;
  pullSettings?: Partial<PullSettings>;
  /** An external tracker of null restores the repository's own issues. */
  issueSettings?: Partial<Omit<IssueSettings, "external">> & { external?: ExternalTracker | null };
}

/**
 * Changes a repository.
 *
 * Each setting is changed individually, so that two concurrent edits both take effect. Settings
 * that already have the input value are skipped and produce no event. Making a repository private
 * deletes the stars and watches of users who can no longer see it. Its forks become private or
 * public in the same batch; a fork itself keeps the visibility of its parent, whatever is sent, as
 * in Gitea.
 *
 * @param more Statements that change its mirror, in the same batch.
 * @throws Failure `invalid` for an invalid value, for a name that is taken, for a default branch
 * that does not exist, for an end out of bounds, and when no unit would stay enabled; `forbidden`
 * for making it private with a public-only token, and where only those who own it may let it be
 * deleted; `not_found` if it was deleted meanwhile.
 */
export async function editRepository(
  ctx: Ctx,
  repo: RepositoryContext,
  input: RepositoryEdit,
  more: readonly BatchItem<"sqlite">[] = [],
): Promise<RepositoryContext> {
  const { row, owner } = repo;
  const related = await findRelated(ctx, repo);
  const requested = row.parentId === null ? input : withoutVisibility(input);
  checkEdit(row, requested);
  await checkDefaultBranch(ctx, row, requested.defaultBranch);
  if (ctx.actor.scopes.isPublicOnly && requested.isPrivate) {
    throw forbidden("token scope is limited to public repos");
  }
  const edit = changesOf(row, withExpiry(ctx, repo, requested));
  const changed = [...Object.keys(edit), ...(more.length > 0 ? ["mirror"] : [])].toSorted();
  if (changed.length === 0) {
    // An earlier edit may have failed between writing the row and setting HEAD.
    await setHead(ctx, row, requested.defaultBranch);
    return related;
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
    // Before the update, so that the returned row has its changes, and the counters already
    // reduced.
    const { updated } = await batch(ctx.db, {
      before: [...deleteTogglesHidden(ctx, row, edit), ...more],
      updated: update,
      redirects: redirects(ctx, row, edit),
      event: record(ctx, {
        type: "repository.edited",
        repoId: row.id,
        ownerId: owner.id,
        changed,
      }),
      audit: recordAudit(ctx, {
        kind: "repository.edited",
        repoId: row.id,
        ownerId: owner.id,
        details: { changed },
      }),
      events: furtherEvents(ctx, row, edit),
      forks: edit.isPrivate === undefined ? [] : forksFollow(ctx, { repoId: row.id }),
    });
    const [edited] = updated;
    if (!edited) throw notFound();
    await setHead(ctx, row, requested.defaultBranch);
    return { ...related, row: edited };
  } catch (error) {
    if (isViolation(error, "UNIQUE", "repositories.lower_name")) {
      throw invalid(`repository already exists [uname: ${owner.name}, name: ${edit.name}]`);
    }
    if (isViolation(error, "CHECK", "repositories_some_unit")) throw invalid(NO_UNIT);
    throw error;
  }
}

/** An edit with the end that it leads to. */
type RepositoryChanges = Omit<RepositoryEdit, "expiry"> & { expiry?: RepositoryExpiry | null };

function withExpiry(
  ctx: Ctx,
  repo: RepositoryContext,
  { expiry: input, ...others }: RepositoryEdit,
): RepositoryChanges {
  if (!input) return others;
  const expiry = changeExpiry(repo.row.expiry, input, ctx.now);
  requireExpiryAccess(repo, expiry);
  return { ...others, expiry };
}

/** Refuses a default branch that does not exist, unless the repository has no branch yet. */
async function checkDefaultBranch(
  { git }: Ctx,
  repo: Repository,
  branch: string | undefined,
): Promise<void> {
  if (branch === undefined || branch === repo.defaultBranch) return;
  const state = await git.repository(repo).snapshot("none");
  const hasBranch = state.refs.some(({ name }) => name.startsWith("refs/heads/"));
  if (hasBranch && !findRef({ state }, branchRef(branch))) {
    throw invalidField("default_branch", `must be a branch that exists, unlike ${branch}`);
  }
}

async function setHead({ git }: Ctx, repo: Repository, branch: string | undefined): Promise<void> {
  if (branch !== undefined) await git.repository(repo).setHead(encodeText(branchRef(branch)));
}

/** SECURITY: whether a fork is private depends on its parent, and changes with it alone. */
function withoutVisibility(edit: RepositoryEdit): RepositoryEdit {
  const { isPrivate: _isPrivate, ...others } = edit;
  return others;
}

const NO_UNIT = "at least one unit must stay enabled";

function checkEdit(repo: Repository, edit: RepositoryEdit): void {
  if (edit.name !== undefined) checkRepositoryName(edit.name);
  if (edit.defaultBranch !== undefined) checkBranchName(edit.defaultBranch, "default_branch");
  checkWebAddress(edit.website, "website");
  if (edit.externalWikiUrl) {
    checkExternalUrl(edit.externalWikiUrl, "external_wiki.external_wiki_url");
  }
  if (edit.issueSettings?.external) checkTracker(edit.issueSettings.external);
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

function checkTracker({ url, format }: ExternalTracker): void {
  checkExternalUrl(url, "external_tracker.external_tracker_url");
  if (format === "") return;
  // A format may contain these placeholders, and no other braces.
  const filled = format.replaceAll(/\{(user|repo|index)\}/g, "x");
  const field = "external_tracker.external_tracker_format";
  if (/[{}]/.test(filled)) {
    throw invalidField(field, "must have no braces but {user}, {repo} and {index}");
  }
  checkExternalUrl(filled, field);
}

/** As in Gitea, what is external is not on the reader's own machine. */
function checkExternalUrl(text: string, field: string): void {
  if (!isWebAddress(text) || new URL(text).hostname === "localhost") {
    throw invalidField(field, "must be a URL with http or https");
  }
}

/** Replaces some fields of a JSON column and keeps the current values of the others. */
const patched = (column: AnyColumn, fields: object): SQL =>
  sql`json_patch(${column}, ${JSON.stringify(fields)})`;

function redirects(ctx: Ctx, repo: Repository, edit: RepositoryChanges) {
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

/** The parts of an edit that differ from the stored values. */
function changesOf(
  repo: Repository,
  { isArchived, pullSettings = {}, issueSettings = {}, ...columns }: RepositoryChanges,
): RepositoryChanges {
  const pulls = differing(repo.pullSettings, pullSettings);
  const issues = differing({ external: null, ...repo.issueSettings }, issueSettings);
  const isArchivedChanged = isArchived !== undefined && isArchived !== (repo.archivedAt !== null);
  return {
    ...differing(repo, columns),
    ...(isArchivedChanged && { isArchived }),
    ...(Object.keys(pulls).length > 0 && { pullSettings: pulls }),
    ...(Object.keys(issues).length > 0 && { issueSettings: issues }),
  };
}

function furtherEvents(ctx: Ctx, repo: Repository, edit: RepositoryChanges) {
  const { id: repoId, ownerId } = repo;
  const list = [];
  if (edit.name !== undefined && edit.name !== repo.name) {
    const names = { from: repo.name, to: edit.name };
    list.push(record(ctx, { type: "repository.renamed", repoId, ownerId, ...names }));
    list.push(recordAudit(ctx, { kind: "repository.renamed", repoId, ownerId, details: names }));
  }
  if (edit.isArchived) list.push(record(ctx, { type: "repository.archived", repoId, ownerId }));
  if (edit.isPrivate !== undefined && edit.isPrivate !== repo.isPrivate) {
    const { isPrivate } = edit;
    list.push(record(ctx, { type: "repository.visibility_changed", repoId, ownerId, isPrivate }));
    list.push(
      recordAudit(ctx, {
        kind: "repository.visibility_changed",
        repoId,
        ownerId,
        details: { isPrivate },
      }),
    );
  }
  return list;
}

/**
 * Deletes the stars and watches of users who may not see the repository, if the edit makes it
 * private.
 */
function deleteTogglesHidden(ctx: Ctx, repo: Repository, edit: RepositoryChanges) {
  const hidden: Repository = { ...repo, isPrivate: true, visibility: "private" };
  return deleteOutsiderToggles(ctx, hidden, () => sql`${edit.isPrivate === true}`);
}
