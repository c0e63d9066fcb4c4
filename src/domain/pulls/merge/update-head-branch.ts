import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import { decodeText, encodeText } from "../../../git/byte-text.ts";
import { GitError } from "../../../git/error.ts";
import { buildMerge, type BuiltMerge } from "../../../git/merge/build-merge.ts";
import { findDivergence, isAncestor } from "../../../git/walk/merge-bases.ts";
import { conflict, forbidden, invalid, notFound } from "../../../lib/failure.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { StoredRef } from "../../../storage/repository-records.ts";
import { toIdentity } from "../../people/accounts/git-identity.ts";
import { nameConflicts } from "../../code/commits/name-conflicts.ts";
import { branchRef } from "../../code/branches/find-branch.ts";
import { adoptPacks } from "../../code/git/adopt-packs.ts";
import { commitChange } from "../../code/git/commit-change.ts";
import { makeCommit } from "../../code/git/make-commit.ts";
import { findRef, openNetwork, type RepositorySnapshot } from "../../code/git/open-snapshot.ts";
import type { Adopted } from "../../code/git/push-refs.ts";
import type { RefUpdateRequest } from "../../code/git/ref-update-request.ts";
import { updateRefs } from "../../code/git/update-refs.ts";
import { requireNotArchived } from "../../issues/issue/require-issue-access.ts";
import { requireWritableHead } from "../pull/writable-head.ts";
import { UNRELATED_HISTORIES } from "./require-mergeable.ts";

/** How a head is updated with its base. */
export type UpdateStyle = "merge" | "rebase";

/**
 * Brings the branch of a head up to date with the base: by a merge of the base into it, or by
 * replaying its commits on top of the base. Nothing is copied to a fork: it shares the packs.
 *
 * @throws Failure `invalid` for a closed pull request, and for a head that has everything of the
 * base; `forbidden` for callers who may not write to the branch of the head, and for a rebase where
 * the base's repository allows none; `conflict` for conflicts, for a merge of unrelated histories,
 * and if a branch changes meanwhile; `locked` if a repository is archived.
 */
export async function updateHeadBranch(
  ctx: Ctx,
  pull: PullContext,
  user: User,
  style: UpdateStyle,
): Promise<void> {
  const { repo } = pull;
  requireNotArchived(repo);
  if (pull.pull.mergedAt !== null) throw invalid("the pull request is merged");
  if (pull.row.isClosed) throw invalid("the pull request is closed");
  const headRepo = await requireWritableHead(ctx, pull);
  if (style === "rebase" && !repo.row.pullSettings.allowRebaseUpdate) {
    throw forbidden("the repository allows no update by rebase");
  }
  const [own, other] = await openNetwork(ctx, headRepo.row, repo.row);
  const head = findRef(own, branchRef(pull.pull.headBranch));
  const base = findRef(other, branchRef(pull.pull.baseBranch));
  if (!head || !base) throw notFound("a branch of the pull request does not exist any more");
  const built = await build(ctx, pull, user, own, { head, base, style });
  await commit(ctx, [headRepo, own], [repo, other], { head, base, built, pull });
}

type Built = Extract<BuiltMerge, { kind: "built" }>;

interface Ends {
  readonly head: StoredRef;
  readonly base: StoredRef;
}

async function build(
  ctx: Ctx,
  { pull }: PullContext,
  user: User,
  { repository: { graph, objects } }: RepositorySnapshot,
  { head, base, style }: Ends & { readonly style: UpdateStyle },
): Promise<Built> {
  const [headNode, baseNode] = [graph.find(head.oid), graph.find(base.oid)];
  if (isAncestor(graph, baseNode, headNode)) {
    throw invalid("the head has everything of the base already");
  }
  const isRebase = style === "rebase";
  // Without commits of its own it only moves forward.
  if (isRebase && isAncestor(graph, headNode, baseNode)) {
    return { kind: "built", tipOid: base.oid, objects: [] };
  }
  // A merge of the base into the head is one in the other direction.
  const ends = isRebase ? { base: baseNode, head: headNode } : { base: headNode, head: baseNode };
  const identity = toIdentity(ctx, user);
  const message = `Merge branch '${pull.baseBranch}' into ${pull.headBranch}\n`;
  try {
    const built = await buildMerge({ graph, objects, ...ends }, style, {
      message: encodeText(message),
      author: identity,
      committer: identity,
      format: (fields) => makeCommit(ctx, fields, { operation: "merge", people: [user] }),
    });
    if (built.kind === "built") return built;
    // A head whose commits are all in the base.
    if (built.kind === "unchanged") return { kind: "built", tipOid: base.oid, objects: [] };
    if (built.kind === "unrelated") throw conflict(UNRELATED_HISTORIES);
    const paths = built.kind === "conflicts" ? built.paths : [];
    throw conflict(
      `${style} failed because of conflict: ${nameConflicts(paths.map(({ path }) => decodeText(path)))}`,
    );
  } catch (error) {
    if (!(error instanceof GitError) || error.code !== "limit") throw error;
    throw invalid(`the pull request is too large to update here: ${error.message}`);
  }
}

/** Stores the new objects and moves the branch, in one push that shares what the base has. */
async function commit(
  ctx: Ctx,
  [headRepo, own]: readonly [RepositoryContext, RepositorySnapshot],
  [baseRepo, other]: readonly [RepositoryContext, RepositorySnapshot],
  { head, base, built, pull }: Ends & { readonly built: Built; readonly pull: PullContext },
): Promise<void> {
  const { repository, state } = own;
  const { graph } = repository;
  const updates: RefUpdateRequest[] = [
    { ref: branchRef(pull.pull.headBranch), from: head.oid, to: built.tipOid },
  ];
  let adopted: Adopted | undefined;
  if (headRepo.row.id !== baseRepo.row.id) {
    const { right } = findDivergence(graph, graph.find(head.oid), graph.find(base.oid));
    adopted = await adoptPacks(ctx, [headRepo, own], [baseRepo, other], right, base);
  }
  if (built.objects.length > 0) {
    const change = ({ pack }: { pack: { add: AddObject } }) => {
      for (const { kind, content } of built.objects) pack.add(kind, content);
      return Promise.resolve({ updates });
    };
    await commitChange(ctx, headRepo, change, { adopted });
    return;
  }
  await updateRefs(ctx, headRepo, { state, repository }, updates, { adopted });
}

type AddObject = (kind: Built["objects"][number]["kind"], content: Uint8Array) => unknown;
