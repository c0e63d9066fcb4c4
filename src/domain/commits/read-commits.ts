import type { Ctx } from "../../context.ts";
import { decodeText } from "../../git/byte-text.ts";
import type { PathChange } from "../../git/diff/tree-diff.ts";
import type { User } from "../../db/schema/index.ts";
import { parseCommit, splitSignature } from "../../git/object/commit.ts";
import type { Identity } from "../../git/object/identity.ts";
import { NO_NODE, type Node } from "../../git/walk/commit-graph.ts";
import type { ChangedFile, CommitEntry } from "../../shapes/commit.ts";
import { findByAddresses } from "../accounts/find-by-addresses.ts";
import type { Code } from "../git/open-code.ts";
import { type Signable, verifySignatures } from "../signatures/verify-signatures.ts";
import { countChangedLines, findChanges } from "./find-changes.ts";

/** What of a commit is told beside itself. What is not told is not computed. */
export interface CommitParts {
  readonly hasStat: boolean;
  readonly hasFiles: boolean;
  readonly hasVerification: boolean;
}

/**
 * Reads commits, with the accounts that their addresses belong to.
 *
 * Cost: one round to the database for all of them; one read or more for each commit, with files the
 * trees that changed, with counts the contents too.
 */
export async function readCommits(
  ctx: Ctx,
  code: Code,
  nodes: readonly Node[],
  parts: CommitParts,
): Promise<CommitEntry[]> {
  const read: ReadCommit[] = [];
  for (const node of nodes) read.push(await readCommit(code, node, parts));
  const addresses = read.flatMap(({ commit: { author, committer } }) => [
    decodeText(author.email),
    decodeText(committer.email),
  ]);
  if (addresses.length === 0) return [];
  const [users, verified] = await Promise.all([
    findByAddresses(ctx, addresses),
    parts.hasVerification ? verifySignatures(ctx, read) : leaveUnverified(read),
  ]);
  const find = ({ email }: Identity): User | undefined =>
    users.get(decodeText(email).toLowerCase());
  return verified.map((entry) => {
    const { author, committer } = entry.commit;
    return Object.assign(entry, { author: find(author), committer: find(committer) });
  });
}

const leaveUnverified = <T>(read: readonly T[]) =>
  read.map((entry) => ({ ...entry, verification: undefined }));

/** A commit by itself; its signature, if that is asked for. */
type ReadCommit = Omit<CommitEntry, "author" | "committer" | "verification"> & Signable;

async function readCommit(
  { repository: { graph, objects } }: Code,
  node: Node,
  { hasStat, hasFiles, hasVerification }: CommitParts,
): Promise<ReadCommit> {
  const content = await objects.readPlace(graph.place(node));
  const commit = parseCommit(content);
  const parentNodes = graph.parents(node);
  const parents = commit.parentOids.map((oid, at) => {
    const parent = parentNodes[at] ?? NO_NODE;
    return { oid, timeSeconds: parent === NO_NODE ? 0 : (graph.times[parent] as number) };
  });
  const first = parentNodes[0] ?? NO_NODE;
  const changes =
    hasStat || hasFiles
      ? await findChanges(
          objects,
          first === NO_NODE ? undefined : graph.rootOid(first),
          commit.treeOid,
        )
      : undefined;
  return {
    commitOid: graph.oid(node),
    commit,
    parents,
    email: commit.committer.email,
    split: hasVerification ? splitSignature(content) : undefined,
    files: hasFiles ? changes?.map(toChangedFile) : undefined,
    stat: hasStat && changes ? await countChangedLines(objects, changes) : undefined,
  };
}

function toChangedFile(change: PathChange): ChangedFile {
  if (change.kind === "added") return { path: change.new.path, status: "added" };
  if (change.kind === "deleted") return { path: change.old.path, status: "removed" };
  return { path: change.new.path, status: "modified" };
}
