import type { Ctx } from "../../../context.ts";
import type { Oid } from "../../../git/oid.ts";
import { conflict, notFound } from "../../../lib/failure.ts";
import type { BranchEntry } from "../../../shapes/git/branch.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { findRevision } from "../git/find-revision.ts";
import { noSuchRef } from "../git/no-such-ref.ts";
import type { Adopted } from "../git/push-refs.ts";
import { updateRefs } from "../git/update-refs.ts";
import { type RepositorySnapshot, findRef, openSnapshot } from "../git/open-snapshot.ts";
import { hasRefClash } from "../git/ref-clash.ts";
import { requireWritable } from "../git/require-writable.ts";
import { loadRules } from "../protections/select-rules.ts";
import { checkBranchName } from "./branch-name.ts";
import { branchRef } from "./find-branch.ts";
import { toBranchEntry } from "./list-branches.ts";
import { readHeads } from "./read-heads.ts";

/** Properties of a branch to create. */
export interface NewBranch {
  name: string;
  /** The branch, tag or commit to start at. */
  oldRef?: string | undefined;
  /** The branch to start at if `oldRef` is missing. Defaults to the default branch. */
  oldBranch?: string | undefined;
}

/**
 * Creates a branch at another branch, a tag or a commit.
 *
 * @throws Failure `invalid` for an invalid name, `not_found` if the starting point does not exist,
 * `conflict` if the name is taken or clashes with another ref (`a` and `a/b`), `forbidden` if a
 * rule keeps the caller from it.
 */
export async function createBranch(
  ctx: Ctx,
  repo: RepositoryContext,
  input: NewBranch,
): Promise<BranchEntry> {
  requireWritable(repo);
  const { name } = input;
  checkBranchName(name, "new_branch_name");
  const snapshot = await openSnapshot(ctx, repo);
  const commitOid = await findStart(repo, snapshot, input);
  requireFreeName(snapshot, name);
  return createBranchAt(ctx, repo, snapshot, { name, commitOid });
}

/**
 * Asserts that a branch of a name can be created.
 *
 * @throws Failure `conflict` if the name is taken or clashes with another ref.
 */
export function requireFreeName(snapshot: RepositorySnapshot, name: string): void {
  const ref = branchRef(name);
  if (findRef(snapshot, ref)) throw conflict("The branch already exists.");
  if (findRef(snapshot, `refs/tags/${name}`)) {
    throw conflict("The branch with the same tag already exists.");
  }
  if (hasRefClash(snapshot, ref)) throw conflict("The branch with the same name already exists.");
}

/** A branch to create at a commit. */
interface BranchAt {
  readonly name: string;
  readonly commitOid: Oid;
  /** What reaches the commit, if no ref does. */
  readonly adopted?: Adopted;
}

/** Creates a branch whose name is free. @throws Failure `forbidden` if a rule is against it. */
export async function createBranchAt(
  ctx: Ctx,
  repo: RepositoryContext,
  snapshot: RepositorySnapshot,
  { name, commitOid, adopted }: BranchAt,
): Promise<BranchEntry> {
  // Read before the ref update: a branch whose head can't be shown is not created.
  const head = (await readHeads(ctx, snapshot, [commitOid])).get(commitOid);
  if (!head) throw notFound();
  await updateRefs(ctx, repo, snapshot, [{ ref: branchRef(name), to: commitOid }], { adopted });
  return toBranchEntry(ctx, await loadRules(ctx, repo), name, head);
}

async function findStart(
  { row }: RepositoryContext,
  snapshot: RepositorySnapshot,
  input: NewBranch,
): Promise<Oid> {
  const { oldRef, oldBranch } = input;
  if (oldRef) {
    const revision = await findRevision(snapshot, oldRef);
    if (!revision) throw noSuchRef(snapshot, "The old branch does not exist");
    return revision.commitOid;
  }
  const start = findRef(snapshot, branchRef(oldBranch || row.defaultBranch));
  if (!start) throw noSuchRef(snapshot, "The old branch does not exist");
  return start.oid;
}
