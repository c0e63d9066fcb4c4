import { requireAccess } from "../../../auth/access/permission.ts";
import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import { encodeText, readByteText } from "../../../git/byte-text.ts";
import { hashObject } from "../../../git/object/hash-object.ts";
import { isRegularMode } from "../../../git/object/tree.ts";
import type { Oid } from "../../../git/oid.ts";
import { TreeDraft } from "../../../git/tree-draft.ts";
import { conflict } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { codec } from "../../../storage/codec.ts";
import { newForkName } from "../../../storage/object-names.ts";
import { LruCache } from "../../../lib/lru-cache.ts";
import type { RepositoryLocation, RequiredRef, Seed } from "../../../storage/repository-records.ts";
import { toIdentity } from "../../people/accounts/git-identity.ts";
import { branchRef } from "../../code/branches/find-branch.ts";
import { makeCommit } from "../../code/git/make-commit.ts";
import { findRef, openSnapshot } from "../../code/git/open-snapshot.ts";
import { GLOBS_FILE } from "./plan-content.ts";

/**
 * Objects of a template that is shared: the object of the new repository lists those of the tree at
 * its first use.
 */
const SHARED_OBJECTS_MAX = 200_000;

/** How often a template is read again that was pushed to meanwhile. */
const ATTEMPTS_MAX = 3;

/** The tree of a template that is shared. */
interface SharedTree {
  /** The default branch as it was read. */
  readonly source: RequiredRef;
  readonly treeOid: Oid;
  readonly sizeBytes: number;
}

const TREE_BYTES = 500;
/**
 * Trees that were shared last, by the object of the template and its branch. The object refuses one
 * that it has no more.
 */
const trees = new LruCache<SharedTree>(1000 * TREE_BYTES);

/** The git data of a repository that shares the packs of its template. */
export interface SharedContent {
  readonly location: RepositoryLocation;
  /** The commit that it begins with. */
  readonly seed: Seed;
  readonly commit: Uint8Array;
  /** Of the packs, in bytes. */
  readonly sizeBytes: number;
}

/**
 * Lets a new repository begin with the files of a template, in packs that it shares: as one commit
 * of its own, whatever their number. The caller writes its row, or undoes this by `cancelFork` of
 * the template.
 *
 * SECURITY: the other history of the template is in these packs, too. As with a fork, objects are
 * shown of a repository only if its own refs reach them.
 *
 * Cost: a call of the template's object; another one, and the reads of two trees, where the isolate
 * has not shared it since it was pushed to.
 *
 * @returns Undefined for a template that can't be shared: an empty one, one with variables or large
 *   files, and one of very many objects.
 * @throws Failure `conflict` if the template is pushed to again and again.
 */
export async function shareTemplate(
  ctx: Ctx,
  template: RepositoryContext,
  creator: User,
  defaultBranch: string,
): Promise<SharedContent | undefined> {
  const { row } = template;
  requireAccess(template, { unit: "code", mode: "read" });
  if (row.lfsSizeBytes > 0) return undefined;
  const key = `${row.objectName} ${row.defaultBranch}`;
  const stored = ctx.git.repository(row);
  const { networkName } = row;
  for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts++) {
    const kept = attempts === 0 ? trees.get(key) : undefined;
    const found = kept ?? (await findTree(ctx, template));
    if (!found) return undefined;
    trees.set(key, found, TREE_BYTES);
    const { source, treeOid, sizeBytes } = found;
    const commit = await makeFirstCommit(ctx, creator, treeOid);
    const seed: Seed = {
      ref: encodeText(branchRef(defaultBranch)),
      oid: hashObject("commit", commit, codec),
      commit: readByteText(commit),
      uploadId: crypto.randomUUID(),
    };
    const location = { objectName: newForkName(row.objectName), networkName };
    if (await stored.generate(location, ctx.now, seed, source)) {
      return { location, seed, commit, sizeBytes };
    }
  }
  throw conflict("the template is changing");
}

/** The tree of the default branch, if it can be shared. */
async function findTree(ctx: Ctx, template: RepositoryContext): Promise<SharedTree | undefined> {
  const snapshot = await openSnapshot(ctx, template);
  const { state, repository } = snapshot;
  const source = findRef(snapshot, branchRef(template.row.defaultBranch));
  const count = state.packs.reduce((sum, { objectCount }) => sum + objectCount, 0);
  if (!source || count > SHARED_OBJECTS_MAX) return undefined;
  const { graph, objects } = repository;
  const treeOid = await graph.loadRootOid(graph.find(source.oid));
  if (treeOid === undefined) throw new Error("a branch without a tree");
  const globs = await new TreeDraft(objects, treeOid).find(GLOBS_FILE);
  if (globs && isRegularMode(globs.mode)) return undefined;
  const sizeBytes = state.packs.reduce((sum, { packBytes }) => sum + packBytes, 0);
  return { source, treeOid, sizeBytes };
}

/** The content of the first commit of a generated repository. */
export function makeFirstCommit(ctx: Ctx, author: User, treeOid: Oid): Promise<Uint8Array> {
  const identity = toIdentity(ctx, author);
  return makeCommit(
    ctx,
    {
      treeOid,
      parentOids: [],
      author: identity,
      committer: identity,
      message: encodeText("Initial commit\n"),
    },
    { operation: "first_commit", people: [author] },
  );
}
