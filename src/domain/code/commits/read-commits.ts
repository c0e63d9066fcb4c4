import type { Ctx } from "../../../context.ts";
import { decodeText } from "../../../git/byte-text.ts";
import type { PathChange } from "../../../git/diff/tree-diff.ts";
import type { Repository, User } from "../../../db/schema/index.ts";
import { parseCommit, splitSignature } from "../../../git/object/commit.ts";
import type { Identity } from "../../../git/object/identity.ts";
import type { ObjectReader } from "../../../git/store.ts";
import { type CommitGraph, NO_NODE, type Node } from "../../../git/walk/commit-graph.ts";
import type { CommitFile, CommitEntry } from "../../../shapes/git/commit.ts";
import { findByAddresses } from "../../people/accounts/find-by-addresses.ts";
import type { RepositorySnapshot } from "../git/open-snapshot.ts";
import { type Signable, verifySignatures } from "../signatures/verify-signatures.ts";
import { summarizeStatuses } from "../statuses/summarize-statuses.ts";
import { countChangedLines, findChanges } from "./find-changes.ts";
import { findOwnTrees } from "./own-trees.ts";

/** Selects the computed parts of a commit. Parts that are not selected cost nothing. */
export interface CommitParts {
  readonly hasStat: boolean;
  readonly hasFiles: boolean;
  readonly hasVerification: boolean;
  /** The repository whose statuses of the commits are summarized, if any. */
  readonly statusesOf?: Repository;
}

/**
 * Reads commits with the accounts that own their email addresses.
 *
 * Cost: one database round trip for all commits, plus one read or more per commit. `hasFiles` also
 * reads the changed trees, `hasStat` the changed contents too.
 */
export async function readCommits(
  ctx: Ctx,
  snapshot: RepositorySnapshot,
  nodes: readonly Node[],
  parts: CommitParts,
): Promise<CommitEntry[]> {
  const read: ReadCommit[] = [];
  const differences = await readDifferences(snapshot, nodes, parts);
  for (const [at, node] of nodes.entries()) {
    const { files, stat } = differences[at] ?? {};
    read.push({ ...(await readCommit(snapshot, node, parts)), files, stat });
  }
  const addresses = read.flatMap(({ commit: { author, committer } }) => [
    decodeText(author.email),
    decodeText(committer.email),
  ]);
  if (addresses.length === 0) return [];
  const { statusesOf } = parts;
  const oids = read.map(({ commitOid }) => commitOid);
  const [users, verified, statuses] = await Promise.all([
    findByAddresses(ctx, addresses),
    parts.hasVerification ? verifySignatures(ctx, read) : leaveUnverified(read),
    statusesOf && summarizeStatuses(ctx, statusesOf, oids),
  ]);
  const find = ({ email }: Identity): User | undefined =>
    users.get(decodeText(email).toLowerCase());
  return verified.map((entry) => {
    const { author, committer } = entry.commit;
    const status = statuses?.get(entry.commitOid);
    return Object.assign(entry, { author: find(author), committer: find(committer), status });
  });
}

const leaveUnverified = <T>(read: readonly T[]) =>
  read.map((entry) => ({ ...entry, verification: undefined }));

/** A commit without its accounts, with its signature if requested. */
type ReadCommit = Omit<CommitEntry, "author" | "committer" | "verification"> & Signable;

/** The requested differences of a commit from its first parent. */
type Difference = Pick<CommitEntry, "files" | "stat">;

async function readCommit(
  { repository: { graph, objects } }: RepositorySnapshot,
  node: Node,
  { hasVerification }: CommitParts,
): Promise<Omit<ReadCommit, keyof Difference>> {
  const content = await objects.readAt(graph.location(node));
  const commit = parseCommit(content);
  const parentNodes = graph.parents(node);
  const parents = commit.parentOids.map((oid, at) => {
    const parent = parentNodes[at] ?? NO_NODE;
    return { oid, timeSeconds: parent === NO_NODE ? 0 : (graph.times[parent] as number) };
  });
  return {
    commitOid: graph.oid(node),
    commit,
    parents,
    email: commit.committer.email,
    split: hasVerification ? splitSignature(content) : undefined,
  };
}

/**
 * Computes the differences of each commit from its first parent. A page is cached as one result.
 */
function readDifferences(
  { repository }: RepositorySnapshot,
  nodes: readonly Node[],
  { hasStat, hasFiles }: CommitParts,
): Promise<Difference[]> {
  const { results, graph } = repository;
  if (!hasStat && !hasFiles) {
    return Promise.resolve(nodes.map(() => ({ files: undefined, stat: undefined })));
  }
  const oids = nodes.map((node) => graph.oid(node));
  return results.getOrCompute(["differences", oids, hasStat, hasFiles], async (budget) => {
    const objects = repository.objects.within(budget);
    const differences: Difference[] = [];
    for (const node of nodes) {
      const changes = await findOwnChanges(graph, objects, node);
      // A sum of only some of the files would be wrong without showing it.
      const stat =
        hasStat && changes ? await countChangedLines(objects, changes, budget) : undefined;
      differences.push({
        files: hasFiles ? changes?.map(toCommitFile) : undefined,
        stat: budget.isExhausted ? undefined : stat,
      });
    }
    return differences;
  });
}

async function findOwnChanges(graph: CommitGraph, objects: ObjectReader, node: Node) {
  const { oldTreeOid, newTreeOid } = await findOwnTrees(graph, node);
  return findChanges(objects, oldTreeOid, newTreeOid);
}

function toCommitFile(change: PathChange): CommitFile {
  if (change.kind === "added") return { path: change.new.path, status: "added" };
  if (change.kind === "deleted") return { path: change.old.path, status: "removed" };
  return { path: change.new.path, status: "modified" };
}
