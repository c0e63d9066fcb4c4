import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { events, pulls, reviews } from "../../../db/schema/index.ts";
import type { Consequence } from "../../../events/consequence.ts";
import { type ByteText, decodeText } from "../../../git/byte-text.ts";
import { GitError } from "../../../git/error.ts";
import { findChangedPath } from "../../../git/diff/find-changed-path.ts";
import { NO_NODE } from "../../../git/walk/commit-graph.ts";
import { isDraftTitle } from "../../../shapes/issues/issue.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import { loadPulls } from "../sync/load-pulls.ts";
import type { CodeOwnerRule } from "../reviews/code-owners.ts";
import { findCodeOwners, type ReviewerNames, REVIEWERS_MAX } from "../reviews/find-reviewers.ts";
import { storeRequests } from "../reviews/request-reviews.ts";
import { isRuleFor, readCodeOwnerRules, teamsOf } from "./code-owner-rules.ts";

/** Steps to compare paths with patterns: a second of processor time. */
const STEPS_MAX = 100_000_000;

/**
 * Requests reviews from the owners of the changed code for an opened pull request, or one that is
 * no draft any more. Reads the owners from the base, so that a head can't choose its reviewers.
 *
 * Users who were asked or have reviewed already are not asked again.
 */
export const askCodeOwners: Consequence = {
  name: "code-owners",
  kinds: ["issue.opened", "pull.ready"],
  isNeeded: sql`(${events.type} <> 'issue.opened' or ${events.payload} ->> 'isPull')`,
  async handle(ctx, { event }, budget) {
    const isOfPull = event.type === "pull.ready" || (event.type === "issue.opened" && event.isPull);
    if (!isOfPull || ctx.actor.user === undefined) return undefined;
    budget.consume(2);
    const [pull] = await loadPulls(ctx, eq(pulls.issueId, event.issueId), 1);
    if (!pull || pull.row.isClosed || isDraftTitle(pull.row.title)) return undefined;
    const names = await findOwnersOfChanges(ctx, pull);
    if (names.users.length + names.teams.length === 0) return undefined;
    budget.consume(4);
    const asked = { ...pull, posterId: pull.row.posterId, baseBranch: pull.pull.baseBranch };
    const [owners, reviewed] = await Promise.all([
      findCodeOwners(ctx, asked, names),
      listReviewers(ctx, pull),
    ]);
    const people = owners.users.filter(({ id }) => !reviewed.has(id));
    await storeRequests(ctx, pull, { ...owners, users: people });
    return undefined;
  },
};

/** The ids of the users who have reviewed. */
async function listReviewers(
  { db }: Ctx,
  { row }: PullContext,
): Promise<ReadonlySet<number | null>> {
  const rows = await db
    .selectDistinct({ id: reviews.reviewerId })
    .from(reviews)
    .where(and(eq(reviews.issueId, row.id), sql`${reviews.state} <> 'pending'`));
  return new Set(rows.map(({ id }) => id));
}

/** @throws Error if the head is not stored yet: the event is tried again. */
async function findOwnersOfChanges(
  ctx: Ctx,
  pull: PullContext,
): Promise<Required<{ [K in keyof ReviewerNames]: string[] }>> {
  const stored = ctx.git.repository(pull.repo.row);
  const budget = ctx.git.openBudget(STEPS_MAX);
  // SECURITY: reads with the permissions of the service, and notifies only the named owners.
  const repository = await stored.openByBlock(await stored.snapshot("none"), budget);
  const { graph } = repository;
  const baseOid = pull.baseTip ?? pull.pull.checkedBaseOid;
  const rules = await readCodeOwnerRules(repository, baseOid, budget);
  if (rules.length === 0) return { users: [], teams: [] };
  const head = graph.find(pull.pull.headOid);
  if (head === NO_NODE) throw new Error("the head of the pull request is not stored yet");
  const mergeBase = graph.find(pull.pull.mergeBaseOid);
  const oldTree = mergeBase === NO_NODE ? undefined : await graph.loadRootOid(mergeBase);
  const matching = new Set<CodeOwnerRule>();
  const isFound = (path: ByteText): boolean => {
    const text = decodeText(path);
    for (const each of rules) {
      if (matching.has(each.rule)) continue;
      if (isRuleFor(each, text, budget)) matching.add(each.rule);
      if (budget.isExhausted) return true;
    }
    return matching.size === rules.length;
  };
  try {
    await findChangedPath(
      repository.objects.within(budget),
      oldTree,
      await graph.loadRootOid(head),
      isFound,
      budget,
    );
  } catch (error) {
    // Beyond the budget those are asked who were found by then.
    if (!(error instanceof GitError && error.code === "limit")) throw error;
  }
  const owner = pull.repo.owner.lowerName;
  const all = [...matching];
  const users = new Set(all.flatMap((rule) => rule.users.map((name) => name.toLowerCase())));
  const teams = new Set(
    all.flatMap((rule) => teamsOf(rule, owner).map((name) => name.toLowerCase())),
  );
  return {
    users: [...users].slice(0, REVIEWERS_MAX),
    teams: [...teams].slice(0, REVIEWERS_MAX),
  };
}
