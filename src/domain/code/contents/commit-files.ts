import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import { type Commit, parseCommit, splitSignature } from "../../../git/object/commit.ts";
import { TreeDraft } from "../../../git/tree-draft.ts";
import { EMPTY_TREE_OID, type Oid } from "../../../git/oid.ts";
import type { PackBuilder } from "../../../git/pack/pack-builder.ts";
import { type Failure, forbidden, invalid, notApplicable } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { checkBranchName } from "../branches/branch-name.ts";
import { branchRef } from "../branches/find-branch.ts";
import { commitChange, type SnapshotDraft } from "../git/commit-change.ts";
import { makeCommit } from "../git/make-commit.ts";
import { noSuchRef } from "../git/no-such-ref.ts";
import type { RefUpdateRequest } from "../git/ref-update-request.ts";
import { type RepositorySnapshot, findRef } from "../git/open-snapshot.ts";
import { requireWritable } from "../git/require-writable.ts";
import { timeOfCommit } from "../git/time-of-commit.ts";
import type { Verification } from "../../../shapes/git/verification.ts";
import { type ProtectedRef, rewordRefusal } from "../protections/ref-refusal.ts";
import { verifySignatures } from "../signatures/verify-signatures.ts";
import { type CommitOptions, toIdentities, toCommitMessage } from "./commit-options.ts";

/** A newly created commit. */
export interface MadeCommit {
  readonly branch: string;
  readonly commitOid: Oid;
  readonly commit: Commit;
  readonly verification: Verification;
  readonly parents: readonly { readonly oid: Oid; readonly timeSeconds: number }[];
}

/** The tree and pack that a change is written to. */
export interface EditTarget {
  readonly tree: TreeDraft;
  readonly pack: PackBuilder;
  /** The repository before the change. */
  readonly repository: OpenRepository;
}

/**
 * Commits a change of files to a branch. In a repository without branches it creates the first
 * commit.
 *
 * A change that results in the same tree is committed too, unless the options require a change.
 *
 * @param edit Applies the change to the target.
 * @param fallbackMessage The commit message if `commitOptions` has none.
 * @throws Failure `not_found` if the base branch does not exist, `invalid` if the new branch exists
 * or its name is invalid, `not_applicable` without a change where one is required, `conflict` if
 * the branch was updated concurrently, `forbidden` if a rule does not allow the change.
 */
export async function commitFiles<T>(
  ctx: Ctx,
  repo: RepositoryContext,
  ...change: FilesChange<T>
): Promise<{ result: T; made: MadeCommit }> {
  requireWritable(repo);
  return commitFilesUnchecked(ctx, repo, ...change);
}

/** A change of files, with its author and message. */
type FilesChange<T> = [
  user: User,
  commitOptions: CommitOptions,
  fallbackMessage: string,
  edit: (target: EditTarget) => Promise<T>,
];

/**
 * Does what `commitFiles` does, for callers who may write to the branch, but not to the repository.
 *
 * SECURITY: the caller of this function has asked whether they may.
 */
export async function commitFilesUnchecked<T>(
  ctx: Ctx,
  repo: RepositoryContext,
  ...[user, commitOptions, fallbackMessage, edit]: FilesChange<T>
): Promise<{ result: T; made: MadeCommit }> {
  const { author, committer } = toIdentities(ctx, user, commitOptions);
  const message = toCommitMessage(commitOptions, fallbackMessage, committer);
  const makeChange = async ({ snapshot, pack }: SnapshotDraft) => {
    const { branch, baseOid, from } = findTarget(snapshot, repo, commitOptions);
    const { repository } = snapshot;
    const { graph, objects } = repository;
    const rootOid =
      baseOid === undefined ? undefined : await graph.loadRootOid(graph.find(baseOid));
    const tree = new TreeDraft(objects, rootOid);
    const result = await edit({ tree, pack, repository });
    const treeOid = await tree.write((content) => pack.add("tree", content));
    if (commitOptions.isChangeRequired && treeOid === (rootOid ?? EMPTY_TREE_OID)) {
      throw notApplicable("Nothing is changed: there is nothing to commit.");
    }
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
  };
  const { adopted } = commitOptions.base ?? {};
  const { result: draft } = await rewordRefusal(
    commitChange(ctx, repo, makeChange, { adopted }),
    (refusal) => wordRefusal(refusal, user),
  );
  const [verified] = await verifySignatures(ctx, [draft.signed]);
  if (!verified) throw new Error("a created commit was not verified");
  return { result: draft.result, made: verified };
}

/** A refusal by a rule, as Gitea words it for changes of files. */
function wordRefusal(refusal: ProtectedRef, { name }: User): Failure {
  const { forbidden: reason } = refusal;
  switch (reason.kind) {
    case "pusher":
    case "force-pusher":
      return forbidden(`user cannot commit to repo [user: ${name}]`);
    case "file":
      return forbidden(`path is protected and can not be changed [path: ${reason.path}]`);
    default:
      return refusal;
  }
}

/** The refusal of a new branch whose name is taken. */
export const branchExists = (name: string): Failure =>
  invalid(`branch already exists [name: ${name}]`);

/**
 * Resolves the branch to commit to, the parent commit, and the commit that the branch points at
 * now.
 */
function findTarget(
  snapshot: RepositorySnapshot,
  { row }: RepositoryContext,
  { branch, newBranch, isForced, base: given }: CommitOptions,
): { branch: string; baseOid: Oid | undefined; from: Oid | undefined } {
  const baseName = branch || row.defaultBranch;
  const targetName = newBranch || baseName;
  const base = given ?? findRef(snapshot, branchRef(baseName));
  if (!base && snapshot.state.refs.some(({ name }) => name.startsWith("refs/heads/"))) {
    throw noSuchRef(snapshot, "the branch does not exist");
  }
  const target = findRef(snapshot, branchRef(targetName));
  if (!target) checkBranchName(targetName, newBranch ? "new_branch" : "branch");
  if (target && (targetName !== baseName || given) && !isForced) {
    throw branchExists(targetName);
  }
  return { branch: targetName, baseOid: base?.oid, from: target?.oid };
}
