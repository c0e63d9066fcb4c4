import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import { type ByteText, decodeText } from "../../../git/byte-text.ts";
import { GitError } from "../../../git/error.ts";
import type { MergeWriter } from "../../../git/merge/build-merge.ts";
import { buildPick, type PickedChange } from "../../../git/merge/build-pick.ts";
import type { Identity } from "../../../git/object/identity.ts";
import type { Oid } from "../../../git/oid.ts";
import { notApplicable } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { toIdentity } from "../../people/accounts/git-identity.ts";
import { branchRef } from "../branches/find-branch.ts";
import { commitChange } from "../git/commit-change.ts";
import { makeCommit } from "../git/make-commit.ts";
import type { RepositorySnapshot } from "../git/open-snapshot.ts";

/** A change of the history to commit to a branch. */
export interface PickOptions extends Pick<PickedChange, "tip" | "from" | "to"> {
  readonly branch: string;
  /** Whether the branch is at `tip`. Else it is new, its name is free, and it begins there. */
  readonly isThere?: boolean;
  readonly message: ByteText;
  /** By default the user. */
  readonly author?: Identity;
  readonly committer?: Identity;
}

/** The result of a pick. Nothing is written unless it is `picked`. */
export type PickResult =
  | { readonly kind: "picked"; readonly commitOid: Oid }
  /** The paths in conflict. */
  | { readonly kind: "conflicts"; readonly paths: readonly string[] }
  /** The branch has the change already. */
  | { readonly kind: "unchanged" };

/**
 * Makes a change between two commits on top of another one, as `git revert` and `git cherry-pick`
 * do, and commits it to a branch.
 *
 * SECURITY: the caller has checked that refs which the user may read reach the commits.
 *
 * Cost: a merge of trees, and `commitChange`.
 *
 * @param snapshot Of the repository, which the caller may write to.
 * @throws Failure `not_applicable` for a change that is too large, and as `commitChange`:
 *   `conflict` if the branch is not at `tip` any more.
 */
export async function pickChange(
  ctx: Ctx,
  repo: RepositoryContext,
  user: User,
  { repository: { graph, objects } }: RepositorySnapshot,
  { tip, from, to, branch, isThere = false, message, ...people }: PickOptions,
): Promise<PickResult> {
  const { committer = toIdentity(ctx, user), author = committer } = people;
  const built = await build(
    { graph, objects, tip, from, to },
    {
      message,
      author,
      committer,
      format: (fields) => makeCommit(ctx, fields, { people: [user] }),
    },
  );
  if (built.kind === "conflicts") {
    return { kind: "conflicts", paths: built.paths.map(({ path }) => decodeText(path)) };
  }
  if (built.kind === "unchanged") return built;
  const before = isThere ? { from: graph.oid(tip) } : {};
  await commitChange(ctx, repo, ({ pack }) => {
    for (const { kind, content } of built.objects) pack.add(kind, content);
    const update = { ref: branchRef(branch), ...before, to: built.tipOid };
    return Promise.resolve({ updates: [update] });
  });
  return { kind: "picked", commitOid: built.tipOid };
}

async function build(change: PickedChange, writer: MergeWriter) {
  try {
    return await buildPick(change, writer);
  } catch (error) {
    if (!(error instanceof GitError) || error.code !== "limit") throw error;
    throw notApplicable(`the change is too large to be made here: ${error.message}`);
  }
}
