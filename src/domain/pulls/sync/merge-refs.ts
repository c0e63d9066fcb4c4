import type { Ctx } from "../../../context.ts";
import { encodeText } from "../../../git/byte-text.ts";
import { formatCommit } from "../../../git/object/commit.ts";
import { hashObject } from "../../../git/object/hash-object.ts";
import type { Identity } from "../../../git/object/identity.ts";
import type { Oid } from "../../../git/oid.ts";
import type { StoredObject } from "../../../git/store.ts";
import { type CommitGraph, NO_NODE } from "../../../git/walk/commit-graph.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { branchRef } from "../../code/branches/find-branch.ts";
import { commitChange } from "../../code/git/commit-change.ts";
import { findRef, type RepositorySnapshot } from "../../code/git/open-snapshot.ts";
import type { RefUpdateRequest } from "../../code/git/ref-update-request.ts";
import { updateRefs } from "../../code/git/update-refs.ts";
import type { CheckedPull } from "../pull/check-mergeability.ts";
import { headRefOf, mergeRefOf } from "../pull/open-pull.ts";
import { storeRefsOnce } from "./store-refs.ts";

/** The commit that merges a pull request, with the objects that it needs. */
export interface TrialMerge {
  readonly number: number;
  readonly baseBranch: string;
  readonly baseOid: Oid;
  readonly headOid: Oid;
  readonly commitOid: Oid;
  readonly objects: readonly StoredObject[];
}

/**
 * Makes the commit for `refs/pull/N/merge`; undefined for what can't be merged.
 *
 * The same base and head give the same commit, so that a job that is repeated makes no other one.
 */
export function makeTrialMerge(
  graph: CommitGraph,
  { pull, baseOid, headOid, mergeability }: CheckedPull,
  objects: readonly StoredObject[],
): TrialMerge | undefined {
  const { treeOid } = mergeability;
  if (treeOid === undefined) return undefined;
  const timeOf = (oid: Oid): number => graph.times[graph.find(oid)] as number;
  const identity: Identity = {
    name: encodeText("Edgeforge"),
    email: encodeText("noreply@edgeforge.invalid"),
    timeSeconds: Math.max(timeOf(baseOid), timeOf(headOid)),
    zone: "+0000",
  };
  const content = formatCommit({
    treeOid,
    parentOids: [baseOid, headOid],
    author: identity,
    committer: identity,
    headers: [],
    message: encodeText(`Merge ${headOid} into ${baseOid}\n`),
  });
  return {
    number: pull.row.number,
    baseBranch: pull.pull.baseBranch,
    baseOid,
    headOid,
    commitOid: hashObject("commit", content),
    objects: [...objects, { kind: "commit", content }],
  };
}

/** Whether `refs/pull/N/merge` merges these two commits. */
export function hasTrialMerge(
  snapshot: RepositorySnapshot,
  number: number,
  baseOid: Oid,
  headOid: Oid,
): boolean {
  const { graph } = snapshot.repository;
  const oid = findRef(snapshot, mergeRefOf(number))?.oid;
  const node = oid === undefined ? NO_NODE : graph.find(oid);
  if (node === NO_NODE) return false;
  const parents = [...graph.parents(node)].map((parent) =>
    parent === NO_NODE ? "" : graph.oid(parent),
  );
  return parents.length === 2 && parents[0] === baseOid && parents[1] === headOid;
}

/**
 * Points `refs/pull/N/merge` at the commits of `merges`, and deletes those of `removed`. A merge
 * whose base or head has moved since is left to the job that follows from that.
 *
 * Cost: nothing where all have these values; else two calls of the Durable Object, and the writes
 * of one pack.
 *
 * @throws Failure `conflict` if one of the refs changes meanwhile; the call may be repeated.
 */
export async function storeMergeRefs(
  ctx: Ctx,
  repo: RepositoryContext,
  snapshot: RepositorySnapshot,
  merges: readonly TrialMerge[],
  removed: readonly number[],
): Promise<void> {
  const changed = merges.filter(
    ({ number, commitOid }) => findRef(snapshot, mergeRefOf(number))?.oid !== commitOid,
  );
  if (changed.length === 0) {
    const deletions = deletionsIn(snapshot, removed);
    if (deletions.length > 0) {
      await updateRefs(ctx, repo, snapshot, deletions, { cause: "service" });
    }
    return;
  }
  const requests = changed.map(({ number, commitOid }) => ({
    ref: mergeRefOf(number),
    to: commitOid,
  }));
  const store = (): Promise<unknown> =>
    commitChange(
      ctx,
      repo,
      async ({ snapshot: current, pack }) => {
        const present = changed.filter((merge) => isPresent(current, merge));
        if (present.length === 0) throw new Superseded();
        for (const { objects } of present) {
          for (const { kind, content } of objects) pack.add(kind, content);
        }
        const updates = present.map(({ number, commitOid: to }): RefUpdateRequest => {
          const ref = mergeRefOf(number);
          const from = findRef(current, ref)?.oid;
          return from === undefined ? { ref, to } : { ref, to, from };
        });
        return { updates: [...updates, ...deletionsIn(current, removed)] };
      },
      { cause: "service", pulls: [...changed.map(({ number }) => number), ...removed] },
    );
  try {
    await storeRefsOnce(ctx, repo, requests, store);
  } catch (error) {
    if (!(error instanceof Superseded)) throw error;
  }
}

/** Thrown where every base or head of the merges has moved. */
class Superseded extends Error {}

const isPresent = (
  snapshot: RepositorySnapshot,
  { number, baseBranch, baseOid, headOid }: TrialMerge,
): boolean =>
  findRef(snapshot, branchRef(baseBranch))?.oid === baseOid &&
  findRef(snapshot, headRefOf(number))?.oid === headOid;

const deletionsIn = (
  snapshot: RepositorySnapshot,
  numbers: readonly number[],
): RefUpdateRequest[] =>
  numbers.flatMap((number) => {
    const ref = mergeRefOf(number);
    const oid = findRef(snapshot, ref)?.oid;
    return oid === undefined ? [] : [{ ref, from: oid }];
  });
