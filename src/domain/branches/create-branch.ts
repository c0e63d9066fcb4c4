import type { Ctx } from "../../context.ts";
import type { Oid } from "../../git/oid.ts";
import { conflict, notFound } from "../../lib/failure.ts";
import type { BranchEntry } from "../../shapes/branch.ts";
import type { RepositoryEntry } from "../../shapes/repository.ts";
import { findRevision } from "../git/find-revision.ts";
import { moveRefs } from "../git/move-refs.ts";
import { type Code, findRef, openCode } from "../git/open-code.ts";
import { hasRefClash } from "../git/ref-clash.ts";
import { requireWritable } from "../git/require-writable.ts";
import { checkBranchName } from "./branch-name.ts";
import { branchRef } from "./find-branch.ts";
import { readHeads } from "./read-heads.ts";

/** A branch to be made. */
export interface NewBranch {
  name: string;
  /** The branch, tag or commit that it begins at. */
  oldRef?: string | undefined;
  /** The branch that it begins at, where `oldRef` says nothing; without both the default branch. */
  oldBranch?: string | undefined;
}

/**
 * Makes a branch where another, a tag or a commit is.
 *
 * @throws Failure `invalid` for a name that can't be, `not_found` if there is nothing to begin at,
 * `conflict` if the name is taken or can't lie beside another.
 */
export async function createBranch(
  ctx: Ctx,
  entry: RepositoryEntry,
  wanted: NewBranch,
): Promise<BranchEntry> {
  requireWritable(entry);
  const { name } = wanted;
  checkBranchName(name, "NewBranchName");
  const code = await openCode(ctx, entry);
  const commitOid = findStart(entry, code, wanted);
  const ref = branchRef(name);
  if (findRef(code, ref)) throw conflict("The branch already exists.");
  if (findRef(code, `refs/tags/${name}`)) {
    throw conflict("The branch with the same tag already exists.");
  }
  if (hasRefClash(code, ref)) throw conflict("The branch with the same name already exists.");
  // Before anything is moved: what can't be shown is not made.
  const head = (await readHeads(ctx, code, [commitOid])).get(commitOid);
  if (!head) throw notFound();
  await moveRefs(ctx, entry, code.repository, [{ ref, to: commitOid }]);
  return { name, head };
}

function findStart({ repo }: RepositoryEntry, code: Code, wanted: NewBranch): Oid {
  const { oldRef, oldBranch } = wanted;
  if (oldRef) {
    const revision = findRevision(code, oldRef);
    if (!revision) throw notFound("The old branch does not exist");
    return revision.commitOid;
  }
  const start = findRef(code, branchRef(oldBranch || repo.defaultBranch));
  if (!start) throw notFound("The old branch does not exist");
  return start.oid;
}
