import type { Context } from "hono";

import { isAllowed } from "../../../auth/access/permission.ts";
import { isUnitOn } from "../../../auth/access/unit-switches.ts";
import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import { findRefPath } from "../../../domain/code/git/find-ref-path.ts";
import type { Revision } from "../../../domain/code/git/find-revision.ts";
import { splitPath } from "../../../domain/code/contents/find-entry.ts";
import { findRef, hasRefs, readSnapshot } from "../../../domain/code/git/open-snapshot.ts";
import type { RepositorySnapshot } from "../../../domain/code/git/open-snapshot.ts";
import { branchRef } from "../../../domain/code/branches/find-branch.ts";
import { findCommitRefusal } from "../../../domain/code/protections/find-commit-refusal.ts";
import { loadRules } from "../../../domain/code/protections/select-rules.ts";
import { listCommitEmails } from "../../../domain/people/accounts/list-commit-emails.ts";
import { findOwnFork } from "../../../domain/repos/repository/find-own-fork.ts";
import { notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { WebEnv } from "../../env.ts";
import { requireCookie, requireOwn } from "../open-page.ts";
import { hasEditor, mayCommit } from "../editor-path.ts";
import {
  enterRepositoryPage,
  READ_CODE,
  READ_PULLS,
  type EnteredRepository,
} from "../repository/enter.ts";

/** A page that changes the files of a repository by a commit. */
export interface EditorPage extends EnteredRepository {
  readonly user: User;
  /** The branch that is changed, or at which a new branch begins. */
  readonly branch: string;
  /** Below the branch; without leading or trailing slash, "" for the root. */
  readonly path: string;
  /**
   * The repository that gets the commit: a fork of the reader who may not write to this one.
   * Undefined for a reader who has no fork yet.
   */
  readonly target: RepositoryContext | undefined;
  /** The reader's addresses for commits, the usual one first. */
  readonly emails: readonly string[];
  /** Why the commit needs a new branch; undefined if the reader may commit to the branch itself. */
  readonly newBranchReason: string | undefined;
  /** A free name for a new branch. */
  readonly freeName: string;
  /** Whether the repository has no commit yet: only the branch itself can be committed to. */
  readonly isFirst: boolean;
}

/** Whether the commit goes to a fork. */
export const isForked = ({ repo, target }: EditorPage): boolean => target !== repo;

/** Whether a pull request of a new branch can be opened. */
export const mayPropose = ({ repo }: EditorPage): boolean =>
  isUnitOn(repo.row, "pulls") && isAllowed(repo, READ_PULLS);

/** Where a page reads: the tip of its branch, and the names below it. */
export interface EditorPlace {
  readonly snapshot: RepositorySnapshot;
  readonly revision: Revision;
  readonly names: readonly string[];
}

/**
 * Enters the repository of a page that changes files, `/:owner/:repo/_edit/:path`, and its branch.
 * Readers who may not write to the repository write to their fork.
 *
 * Cost: two round trips of the database, and as `readSnapshot`; once more for a fork.
 *
 * @param at The branch with the path below it.
 * @param read Reads what the page shows; not called for a repository without commits.
 * @throws Failure `not_found` for no such branch, for an archive and for a mirror.
 * @throws SignInNeeded for readers who are not signed in.
 */
export async function enterEditor<T>(
  c: Context<WebEnv>,
  at: string,
  read: (place: EditorPlace) => Promise<T>,
): Promise<{ page: EditorPage; found: T | undefined }> {
  requireCookie(c);
  const entered = await enterRepositoryPage(c, READ_CODE, ["write:repository"]);
  const { user } = requireOwn(c, entered);
  const { ctx } = entered;
  if (!hasEditor(entered)) throw notFound();
  const isWriter = mayCommit(entered.repo);
  const names = splitPath(at);
  const [place, emails, fork, rules] = await Promise.all([
    readSnapshot(ctx, entered.repo, async (snapshot) => {
      if (!hasRefs(snapshot.state)) return firstPlace(entered.repo, names);
      const found = await findRefPath(snapshot, "branch", names);
      if (!found) throw notFound();
      const { revision, names: below } = found;
      return {
        branch: revision.name,
        names: below,
        found: await read({ snapshot, revision, names: below }),
        freeName: findFreeName(snapshot, user),
        isFirst: false,
      };
    }),
    listCommitEmails(ctx, user),
    isWriter ? undefined : findOwnFork(ctx, entered.repo, user),
    isWriter ? loadRules(ctx, entered.repo) : undefined,
  ]);
  const repo = rules ? { ...entered.repo, rules } : entered.repo;
  const { branch, found, isFirst } = place;
  const path = place.names.join("/");
  if (isFirst && !isWriter) throw notFound();
  const [newBranchReason, freeName] = await Promise.all([
    isWriter ? findReason(ctx, repo, branch, path) : undefined,
    fork ? readSnapshot(ctx, fork, async (own) => findFreeName(own, user)) : place.freeName,
  ]);
  const target = isWriter ? repo : fork;
  const page = {
    ...entered,
    repo,
    user,
    branch,
    path,
    target,
    emails,
    newBranchReason,
    freeName,
    isFirst,
  };
  return { page, found };
}

/** The place of the first commit: the default branch. */
function firstPlace({ row }: RepositoryContext, names: readonly string[]) {
  const first = row.defaultBranch.split("/");
  if (!first.every((name, at) => names[at] === name)) throw notFound();
  return {
    branch: row.defaultBranch,
    names: names.slice(first.length),
    found: undefined,
    freeName: "",
    isFirst: true,
  };
}

async function findReason(
  ctx: Ctx,
  repo: RepositoryContext,
  branch: string,
  path: string,
): Promise<string | undefined> {
  const refusal = await findCommitRefusal(ctx, repo, branch, path === "" ? [] : [path]);
  return refusal && `The rules of ${branch} do not let you commit to it: ${refusal.message}.`;
}

/** Branches of the names that a person gets, at most. */
const PATCHES_MAX = 1000;

function findFreeName(snapshot: RepositorySnapshot, { lowerName }: User): string {
  for (let number = 1; number <= PATCHES_MAX; number++) {
    const name = `${lowerName}-patch-${number}`;
    if (!findRef(snapshot, branchRef(name))) return name;
  }
  return "";
}
