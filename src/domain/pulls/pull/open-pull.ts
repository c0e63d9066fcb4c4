import type { Ctx } from "../../../context.ts";
import type { Budget } from "../../../git/budget.ts";
import { NO_NODE, type Node } from "../../../git/walk/commit-graph.ts";
import { findDivergence, latestOf } from "../../../git/walk/merge-bases.ts";
import { conflict } from "../../../lib/failure.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import { branchRef } from "../../code/branches/find-branch.ts";
import { findRef, openSnapshot, type RepositorySnapshot } from "../../code/git/open-snapshot.ts";
import type { RefUpdateRequest } from "../../code/git/ref-update-request.ts";

/**
 * A pull request with its repository open for reading. What its head reaches is in the repository
 * of the base.
 */
export interface OpenPull {
  readonly snapshot: RepositorySnapshot;
  readonly head: Node;
  /** The present value of the base's branch; undefined if it does not exist. */
  readonly base: Node | undefined;
  /**
   * The commit at which the changes of the head begin: the latest merge base, or for a merged one
   * as it was when it was merged. Undefined for unrelated histories.
   */
  readonly mergeBase: Node | undefined;
}

/** The ref that keeps the head of a pull request in the repository of its base. */
export const headRefOf = (number: number): string => `refs/pull/${number}/head`;

/** The ref with the result of a possible merge, which CI systems fetch. */
export const mergeRefOf = (number: number): string => `refs/pull/${number}/merge`;

/** The ref that keeps what the base becomes by a pull request in a merge queue. */
export const queueRefOf = (number: number): string => `refs/pull/${number}/queue`;

/**
 * Opens the repository of a pull request's base, at its head and base.
 *
 * Cost: as `openSnapshot`.
 *
 * @throws Failure `not_found` without access to the code, `conflict` if the head is not stored yet.
 */
export const openPull = async (ctx: Ctx, pull: PullContext, budget?: Budget): Promise<OpenPull> =>
  locatePull(await openSnapshot(ctx, pull.repo, budget), pull);

/**
 * Finds the head and the base of a pull request in a snapshot of its repository.
 *
 * @throws Failure `conflict` if the head is not stored yet.
 */
export function locatePull(snapshot: RepositorySnapshot, { pull }: PullContext): OpenPull {
  const { graph } = snapshot.repository;
  const head = graph.find(pull.headOid);
  if (head === NO_NODE) throw conflict("the head of the pull request is not stored yet: try again");
  const baseRef = findRef(snapshot, branchRef(pull.baseBranch));
  const base = baseRef && knownNode(graph.find(baseRef.oid));
  const mergeBase =
    pull.mergedAt === null && base !== undefined
      ? latestBase(snapshot, base, head)
      : knownNode(graph.find(pull.mergeBaseOid));
  return { snapshot, head, base, mergeBase };
}

const knownNode = (node: Node): Node | undefined => (node === NO_NODE ? undefined : node);

/** The latest of the merge bases; undefined for unrelated histories. */
export function latestBase(
  { repository: { graph } }: Pick<RepositorySnapshot, "repository">,
  base: Node,
  head: Node,
): Node | undefined {
  return latestOf(graph, findDivergence(graph, base, head).bases);
}

/** The update that sets the head's ref. */
export function headUpdate(
  snapshot: RepositorySnapshot,
  number: number,
  headOid: string,
): RefUpdateRequest | undefined {
  const ref = headRefOf(number);
  const oid = findRef(snapshot, ref)?.oid;
  if (oid === headOid) return undefined;
  return { ref, to: headOid, ...(oid !== undefined && { from: oid }) };
}
