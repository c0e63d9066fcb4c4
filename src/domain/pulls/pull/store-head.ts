import type { Ctx } from "../../../context.ts";
import { NO_NODE } from "../../../git/walk/commit-graph.ts";
import { findDivergence, isAncestor } from "../../../git/walk/merge-bases.ts";
import { conflict } from "../../../lib/failure.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { StoredRef } from "../../../storage/repository-records.ts";
import { branchRef } from "../../code/branches/find-branch.ts";
import { adoptPacks } from "../../code/git/adopt-packs.ts";
import { findRef, openNetwork, type Sides } from "../../code/git/open-snapshot.ts";
import { type Adopted, pushRefs, withAdopted } from "../../code/git/push-refs.ts";
import { toCommand } from "../../code/git/ref-update-request.ts";
import { headRefOf, headUpdate } from "./open-pull.ts";

/**
 * Stores the head of a pull request as `refs/pull/N/head` in the repository of its base, which
 * shares the packs of a fork.
 *
 * Idempotent, also concurrently: a pull request that is stored without its ref, because the Worker
 * ended between the two, gets it by another call. Nobody's access is asked.
 *
 * Cost: one call of each repository's Durable Object unless `opened` is given, and one to write;
 * two more for a fork.
 *
 * @param opened The repositories, if they are open already.
 * @returns False if the head can't be stored: no branch reaches it any more, or the fork or the
 *   base's branch is gone.
 * @throws Failure `conflict` if the repositories change meanwhile; the call may be repeated.
 */
export async function storeHead(ctx: Ctx, pull: PullContext, opened?: Sides): Promise<boolean> {
  const { repo, headRepo } = pull;
  const { headOid } = pull.pull;
  const [own, other] =
    opened ?? (await openNetwork(ctx, repo.row, (headRepo ?? repo).row, [pull.row.number]));
  const update = headUpdate(own, pull.row.number, headOid);
  if (!update) return true;
  const isOwn = headRepo?.row.id === repo.row.id;
  const adopted = isOwn || !headRepo ? undefined : await adopt(ctx, pull, headRepo, [own, other]);
  const reachable = own.repository.reachableFrom(withAdopted(own.state, adopted));
  if ((await reachable.find(headOid)) === undefined) return false;
  const [result] = await pushRefs(ctx, repo, {
    cause: "service",
    commands: [toCommand(update)],
    isAtomic: true,
    repository: own.repository,
    reachable,
    uploadId: undefined,
    pack: undefined,
    adopted,
  });
  if (result?.kind === "ok") return true;
  const state = await ctx.git.repository(repo.row).snapshot([pull.row.number]);
  if (findRef({ state }, headRefOf(pull.row.number))?.oid === headOid) return true;
  throw conflict(`the head of the pull request was not stored: ${result?.reason ?? "no result"}`);
}

/**
 * Takes what the head needs from a fork; undefined if nothing there reaches it, or the base's
 * branch is gone.
 */
async function adopt(
  ctx: Ctx,
  { repo, pull }: PullContext,
  headRepo: RepositoryContext,
  [own, other]: Sides,
): Promise<Adopted | undefined> {
  const { graph } = own.repository;
  const head = graph.find(pull.headOid);
  const baseRef = findRef(own, branchRef(pull.baseBranch));
  const base = baseRef ? graph.find(baseRef.oid) : NO_NODE;
  if (head === NO_NODE || base === NO_NODE) return undefined;
  const reaches = ({ oid }: StoredRef): boolean => {
    const tip = graph.find(oid);
    return tip !== NO_NODE && isAncestor(graph, head, tip);
  };
  const ref = findRef(other, branchRef(pull.headBranch));
  if (!ref || !reaches(ref)) return undefined;
  const { right } = findDivergence(graph, base, head);
  return adoptPacks(ctx, [repo, own], [headRepo, other], right, ref);
}
