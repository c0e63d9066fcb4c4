import type { Ctx } from "../../../context.ts";
import { encodeText } from "../../../git/byte-text.ts";
import { NO_NODE } from "../../../git/walk/commit-graph.ts";
import { logByTime } from "../../../git/walk/log.ts";
import { conflict, notApplicable, notFound } from "../../../lib/failure.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import { createBranchAt, requireFreeName } from "../../code/branches/create-branch.ts";
import { adoptPacks } from "../../code/git/adopt-packs.ts";
import { openNetwork } from "../../code/git/open-snapshot.ts";
import { requireWritable } from "../../code/git/require-writable.ts";
import { headRefOf } from "../pull/open-pull.ts";

/**
 * Creates the branch of a closed pull request's head anew, at its last commit. The ref of the pull
 * request keeps that commit, so that there is no time limit.
 *
 * Cost: one call of each Durable Object, and `createBranchAt`.
 *
 * @throws Failure as `requireWritable` about the repository of the head, and `not_found` if that
 *   is gone; `not_applicable` for an open pull request, and one without a branch of its own;
 *   `conflict` if the name is taken.
 */
export async function restoreHeadBranch(
  ctx: Ctx,
  { repo, row, pull, headRepo }: PullContext,
): Promise<void> {
  if (!headRepo) throw notFound();
  requireWritable(headRepo);
  if (!row.isClosed) throw notApplicable("The pull request is open.");
  if (pull.flow !== "branch") throw notApplicable("The pull request has no branch.");
  const { headOid: commitOid, headBranch: name } = pull;
  // SECURITY: of the other repository nothing is taken but the head, which came from this one.
  const [own, other] = await openNetwork(ctx, headRepo.row, repo.row);
  requireFreeName(own, name);
  const { graph } = own.repository;
  const head = graph.find(commitOid);
  if (head === NO_NODE) throw conflict("The commits of the branch have been removed.");
  const known = own.state.refs.map(({ oid, peeledOid }) => graph.find(peeledOid ?? oid));
  const excluded = known.filter((node) => node !== NO_NODE);
  const lacking = [...logByTime(graph, { tips: [head], excluded })];
  const ref = { name: encodeText(headRefOf(row.number)), oid: commitOid, peeledOid: null };
  const adopted = await adoptPacks(ctx, [headRepo, own], [repo, other], lacking, ref);
  await createBranchAt(ctx, headRepo, own, { name, commitOid, adopted });
}
