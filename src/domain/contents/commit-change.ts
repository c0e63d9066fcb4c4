import type { Ctx } from "../../context.ts";
import type { User } from "../../db/schema/index.ts";
import { type Commit, parseCommit, splitSignature } from "../../git/object/commit.ts";
import { TreeDraft } from "../../git/tree-draft.ts";
import type { Oid } from "../../git/oid.ts";
import type { PackBuilder } from "../../git/pack/pack-builder.ts";
import { invalid, notFound } from "../../lib/failure.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import type { OpenRepository } from "../../storage/open-repository.ts";
import { checkBranchName } from "../branches/branch-name.ts";
import { branchRef } from "../branches/find-branch.ts";
import { commitSnapshot } from "../git/commit-snapshot.ts";
import { makeCommit } from "../git/make-commit.ts";
import type { RefUpdateRequest } from "../git/ref-update-request.ts";
import { type RepositorySnapshot, findRef } from "../git/open-snapshot.ts";
import { requireWritable } from "../git/require-writable.ts";
import { timeOfCommit } from "../git/time-of-commit.ts";
import type { Verification } from "../../shapes/git/verification.ts";
import { verifySignatures } from "../signatures/verify-signatures.ts";
import { type CommitOptions, toIdentities, toCommitMessage } from "./commit-options.ts";

/** A commit that was just made. */
export interface MadeCommit {
  readonly branch: string;
  readonly commitOid: Oid;
  readonly commit: Commit;
  readonly verification: Verification;
  readonly parents: readonly { readonly oid: Oid; readonly timeSeconds: number }[];
}

/** Where a change is made. */
export interface EditTarget {
  readonly tree: TreeDraft;
  readonly pack: PackBuilder;
  /** The repository as it was. */
  readonly repository: OpenRepository;
}

/**
 * Commits a change of files to a branch. In a repository without branches the commit is the first.
 *
 * A change that comes out as it was is committed all the same.
 *
 * @param edit Makes the change.
 * @param fallbackMessage The message, where the wish has none.
 * @throws Failure `not_found` without the branch that the change is based on, `invalid` if the new
 * one exists or can't be, `conflict` if the branch was moved by somebody else meanwhile.
 */
export async function commitChange<T>(
  ctx: Ctx,
  repo: RepositoryContext,
  user: User,
  commitOptions: CommitOptions,
  fallbackMessage: string,
  edit: (target: EditTarget) => Promise<T>,
): Promise<{ result: T; made: MadeCommit }> {
  requireWritable(repo);
  const { author, committer } = toIdentities(ctx, user, commitOptions);
  const message = toCommitMessage(commitOptions, fallbackMessage, committer);
  const { made } = await commitSnapshot(ctx, repo, async ({ snapshot, pack }) => {
    const { branch, baseOid, from } = findTarget(snapshot, repo, commitOptions);
    const { repository } = snapshot;
    const { graph, objects } = repository;
    const rootOid = baseOid === undefined ? undefined : graph.rootOid(graph.find(baseOid));
    const tree = new TreeDraft(objects, rootOid);
    const result = await edit({ tree, pack, repository });
    const treeOid = await tree.write((content) => pack.add("tree", content));
    const parentOids = baseOid === undefined ? [] : [baseOid];
    const content = await makeCommit(ctx, { treeOid, parentOids, author, committer, message });
    const commitOid = pack.add("commit", content);
    const update: RefUpdateRequest = {
      ref: branchRef(branch),
      ...(from && { from }),
      to: commitOid,
    };
    const parents = parentOids.map((oid) => ({ oid, timeSeconds: timeOfCommit(snapshot, oid) }));
    const commit = parseCommit(content);
    const signature = { split: splitSignature(content), email: commit.committer.email };
    const signed = { branch, commitOid, commit, parents, ...signature };
    return { updates: [update], result, signed };
  });
  const [verified] = await verifySignatures(ctx, [made.signed]);
  if (!verified) throw new Error("a commit was made and not judged");
  return { result: made.result, made: verified };
}

/** The branch that a change goes to, the commit that it is based on, and where the branch is now. */
function findTarget(
  snapshot: RepositorySnapshot,
  { row }: RepositoryContext,
  { branch, newBranch, isForced }: CommitOptions,
): { branch: string; baseOid: Oid | undefined; from: Oid | undefined } {
  const baseName = branch || row.defaultBranch;
  const targetName = newBranch || baseName;
  const base = findRef(snapshot, branchRef(baseName));
  if (!base && snapshot.state.refs.some(({ name }) => name.startsWith("refs/heads/"))) {
    throw notFound("the branch does not exist");
  }
  const target = findRef(snapshot, branchRef(targetName));
  if (!target) checkBranchName(targetName, newBranch ? "NewBranchName" : "BranchName");
  if (target && targetName !== baseName && !isForced) {
    throw invalid(`branch already exists [name: ${targetName}]`);
  }
  return { branch: targetName, baseOid: base?.oid, from: target?.oid };
}
