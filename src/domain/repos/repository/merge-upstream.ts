import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import { type ByteText, decodeText, encodeText } from "../../../git/byte-text.ts";
import { resident } from "../../../git/catalog/block-pool.ts";
import type { ObjectLocation } from "../../../git/catalog/pack-catalog.ts";
import { mergeCommits } from "../../../git/merge/merge-commits.ts";
import { BLOB } from "../../../git/object/kind.ts";
import type { StoredObject } from "../../../git/store.ts";
import type { CommitGraph, Node } from "../../../git/walk/commit-graph.ts";
import { findDivergence } from "../../../git/walk/merge-bases.ts";
import { conflict, malformed, notFound } from "../../../lib/failure.ts";
import { htmlUrlOf } from "../../../shapes/urls.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import type { StoredRef } from "../../../storage/repository-records.ts";
import { toIdentity } from "../../people/accounts/git-identity.ts";
import { nameConflicts } from "../../code/commits/name-conflicts.ts";
import { branchRef, findBranch } from "../../code/branches/find-branch.ts";
import { POINTER_BYTES_MAX, readLfsPointer } from "../../code/contents/lfs-pointer.ts";
import { adoptPacks } from "../../code/git/adopt-packs.ts";
import { commitChange } from "../../code/git/commit-change.ts";
import { makeCommit } from "../../code/git/make-commit.ts";
import { findRef, openSideBySide, type RepositorySnapshot } from "../../code/git/open-snapshot.ts";
import { requireWritable } from "../../code/git/require-writable.ts";
import { updateRefs } from "../../code/git/update-refs.ts";
import { takeObjects } from "../../code/lfs/take-objects.ts";
import { findParent } from "./find-repository.ts";

/** How a branch of a fork was updated. */
export type UpstreamMerge = "up-to-date" | "fast-forward" | "merge";

/** Maximum number of small files that are searched for LFS pointers. */
const POINTERS_MAX = 10_000;

/**
 * Brings a branch of a fork up to date with the repository it was forked from: forward if it has no
 * commits of its own, by a merge commit of the caller's otherwise.
 *
 * The packs of the other repository are shared, so no stored byte is copied. Large files come
 * along.
 *
 * @param branch "" for the default branch. The upstream branch is the one of the same name; for the
 * default branch of the fork it is the upstream's default branch where there is none of the name.
 * @throws Failure `malformed` if the repository is no fork, and if a merge is necessary but not
 * allowed; `not_found` without access to the upstream's code, or without the branch; `conflict` for
 * conflicts, and if either repository changed meanwhile; `forbidden` and `locked` as for a push.
 */
export async function mergeUpstream(
  ctx: Ctx,
  fork: RepositoryContext,
  user: User,
  { branch, isFastForwardOnly }: { branch: string; isFastForwardOnly: boolean },
): Promise<UpstreamMerge> {
  requireWritable(fork);
  if (!fork.row.isFork) throw malformed("the repository is not a fork");
  const upstream = await findParent(ctx, fork.row);
  if (!upstream) throw notFound();
  const [own, other] = await openSideBySide(ctx, fork, upstream);
  const name = branch || fork.row.defaultBranch;
  const ref = findBranch(own, name);
  const source = findSource(fork, upstream, other, name);

  const { graph } = own.repository;
  const [ours, theirs] = [graph.find(ref.oid), graph.find(source.oid)];
  const { left, right } = findDivergence(graph, ours, theirs);
  if (right.length === 0) return "up-to-date";
  const isMerge = left.length > 0;
  if (isMerge && isFastForwardOnly) throw malformed("a fast-forward is not possible");

  const merged = isMerge
    ? await mergeTrees(own.repository, ours, theirs, name, upstream)
    : undefined;
  await takeIntroducedFiles(ctx, own.repository, right, upstream, fork);
  const adopted = await adoptPacks(ctx, [fork, own], [upstream, other], right, source);
  const update = { ref: branchRef(name), from: ref.oid };
  if (!merged) {
    await updateRefs(ctx, fork, own, [{ ...update, to: source.oid }], { adopted });
    return "fast-forward";
  }

  const identity = toIdentity(ctx, user);
  const upstreamUrl = htmlUrlOf(upstream, { rootUrl: ctx.publicUrl });
  const sourceName = decodeText(source.name as ByteText).slice(HEADS.length);
  const message = `Merge branch '${sourceName}' of ${upstreamUrl}\n`;
  const fields = {
    treeOid: merged.treeOid,
    parentOids: [ref.oid, source.oid],
    author: identity,
    committer: identity,
    message: encodeText(message),
  };
  const commit = await makeCommit(ctx, fields, { people: [user] });
  await commitChange(
    ctx,
    fork,
    async ({ pack }) => {
      for (const { kind, content } of merged.objects) pack.add(kind, content);
      return { updates: [{ ...update, to: pack.add("commit", commit) }] };
    },
    { adopted },
  );
  return "merge";
}

const HEADS = "refs/heads/";

/** Finds the upstream branch for a branch of the fork. */
function findSource(
  fork: RepositoryContext,
  upstream: RepositoryContext,
  other: RepositorySnapshot,
  name: string,
): StoredRef {
  const same = findRef(other, branchRef(name));
  if (same) return same;
  const isDefault = name === fork.row.defaultBranch;
  return findBranch(other, isDefault ? upstream.row.defaultBranch : name);
}

/** Merges two commits in memory. @throws Failure `conflict` that names the paths with conflicts. */
async function mergeTrees(
  repository: OpenRepository,
  ours: Node,
  theirs: Node,
  branch: string,
  upstream: RepositoryContext,
): Promise<{ treeOid: string; objects: readonly StoredObject[] }> {
  const objects: StoredObject[] = [];
  const labels = { ours: branch, theirs: `${upstream.owner.name}/${upstream.row.name}` };
  const merge = await mergeCommits(
    repository.graph,
    repository.objects,
    ours,
    theirs,
    (kind, content) => void objects.push({ kind, content }),
    { labels },
  );
  if (merge.kind === "merged") return { treeOid: merge.treeOid, objects };
  throw conflict(nameConflicts(merge.paths.map(({ path }) => decodeText(path))));
}

/** The objects that a commit introduces, near their homes. */
const listIntroduced = (graph: CommitGraph, node: Node): Promise<ObjectLocation[]> =>
  resident(() => {
    const locations: ObjectLocation[] = [];
    graph.visitIntroduced(node, (location) => void locations.push(location), true);
    return locations;
  });

/** Gives the fork the large files that the new commits' files point at. */
export async function takeIntroducedFiles(
  ctx: Ctx,
  { catalog, graph, objects }: OpenRepository,
  commits: readonly Node[],
  upstream: RepositoryContext,
  fork: RepositoryContext,
): Promise<void> {
  if (upstream.row.lfsSizeBytes === 0) return;
  const small: ObjectLocation[] = [];
  for (const node of commits) {
    for (const location of await listIntroduced(graph, node)) {
      const isSmallBlob = await resident(
        () => catalog.sizeBytes(location) < POINTER_BYTES_MAX && catalog.kind(location) === BLOB,
      );
      if (isSmallBlob) small.push(location);
    }
  }
  const oids = new Set<string>();
  for (const location of small.slice(0, POINTERS_MAX)) {
    const pointer = readLfsPointer(await objects.readAt(location));
    if (pointer) oids.add(pointer.oid);
  }
  await takeObjects(ctx, upstream.row, fork.row, [...oids]);
}
