import { asc, eq, sql } from "drizzle-orm";

import { callerArgument, type CallerArgument, toCallerSql } from "../../../auth/caller-sql.ts";
import { isGrantedToPerson } from "../../../auth/access/grants.ts";
import { isAllowed, requireAccess } from "../../../auth/access/permission.ts";
import type { Requirement } from "../../../auth/access/requirement.ts";
import { isUnitOn } from "../../../auth/access/unit-switches.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { boundRow, type BoundRow } from "../../../db/bound-row.ts";
import { allOf, isViolation, onlyWhile } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import {
  branchTips,
  milestones,
  pulls,
  repositories,
  type User,
  users,
} from "../../../db/schema/index.ts";
import type { Oid } from "../../../git/oid.ts";
import { findDivergence } from "../../../git/walk/merge-bases.ts";
import { forbidden, invalid, notFound } from "../../../lib/failure.ts";
import { log } from "../../../lib/log.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { StoredRef } from "../../../storage/repository-records.ts";
import { branchRef } from "../../code/branches/find-branch.ts";
import { refuseExpression } from "../../code/git/find-revision.ts";
import { findRef, openSideBySide, type RepositorySnapshot } from "../../code/git/open-snapshot.ts";
import {
  asOpeningRefusal,
  findNewAssignees,
  type NewIssue,
  openingStatements,
} from "../../issues/issue/create-issue.ts";
import { insertEntryOnNew } from "../../issues/issue/insert-entry.ts";
import { newIdIn } from "../../issues/issue/new-issue-id.ts";
import { mayWritePulls, requireNotArchived } from "../../issues/issue/require-issue-access.ts";
import { requestStatements } from "../reviews/request-reviews.ts";
import { findReviewers, type ReviewerNames, type Reviewers } from "../reviews/find-reviewers.ts";
import { forkFamilyOf } from "../../repos/repository/fork-family.ts";
import { selectRepositories, toRepositoryContext } from "../../repos/repository/find-repository.ts";
import { pullStatements, toOnePull } from "./find-pull.ts";
import { toBranch } from "./branch-of.ts";
import { computeMergeability, type MergeabilityResult } from "./compute-mergeability.ts";
import { toPushBody } from "./push-entry.ts";
import { storeHead } from "./store-head.ts";
import { asTaken, type BranchPair, isTaken } from "./taken-pair.ts";

/** The input for a new pull request. */
export interface NewPull extends Omit<NewIssue, "ref" | "isClosed"> {
  /**
   * A branch, or `user:branch` for one of the user's fork, `user/name:branch` of the fork of that
   * name; branches also by their full ref name.
   */
  readonly head: string;
  readonly base: string;
  /** The users and teams to request reviews from. */
  readonly reviewers?: ReviewerNames | undefined;
  /**
   * Whether those who may write to the repository may push to the head; by default, as it says.
   * Ignored without a fork to which the caller may push.
   */
  readonly allowMaintainerEdit?: boolean | undefined;
}

/**
 * Opens a pull request of a branch into a branch of `repo`. The head becomes `refs/pull/N/head`
 * there; no byte is copied from a fork.
 *
 * Cost: two rounds of D1, `openSideBySide`, `computeMergeability` and `storeHead`. For a fork, the
 * new size of the repository is stored after the response.
 *
 * @throws Failure `not_found` for a branch, a fork, a code unit or a milestone that the caller
 * can't see; `invalid` for a head that is the base, and for an expression of git; `conflict` if an
 * open one of these branches exists; `forbidden` for callers who were granted nothing in the base's
 * repository and may not write to the head's; else as `createIssue` and `findReviewers`.
 */
export async function createPull(
  ctx: Ctx,
  repo: RepositoryContext,
  input: NewPull,
): Promise<PullContext> {
  requireNotArchived(repo);
  if (!isUnitOn(repo.row, "pulls")) throw forbidden("the repository's pulls unit is disabled");
  if (repo.row.isMirror) throw notFound();
  const baseBranch = toBranch(input.base);
  const { branch: headBranch, ...fork } = parseHead(input.head);
  refuseExpression(input.base);
  const isWriter = mayWritePulls(repo);
  const posterId = ctx.actor.user?.id ?? null;
  const [headRepo, assignees, reviewers, isInsider] = await Promise.all([
    findHeadRepository(ctx, repo, fork),
    findNewAssignees(ctx, repo, "pulls", isWriter ? (input.assignees ?? []) : []),
    findReviewers(ctx, { repo, posterId, baseBranch }, input.reviewers ?? {}),
    mayOffer(repo) || findIsInsider(ctx, repo),
  ]);
  requireAccess(headRepo, READ_CODE);
  const isOwn = headRepo.row.id === repo.row.id;
  if (isOwn && headBranch === baseBranch) {
    throw invalid("Invalid PullRequest: There are no changes between the head and the base");
  }
  // SECURITY: a reader of a repository can't open pull requests of branches of others.
  if (!isInsider && !mayOffer(headRepo)) throw forbidden("user must be a collaborator");
  const [own, other] = await openSideBySide(ctx, repo, headRepo);
  const base = requireBranch(own, baseBranch);
  const head = requireBranch(other, headBranch);
  const { graph } = own.repository;
  const [baseNode, headNode] = [graph.find(base.oid), graph.find(head.oid)];
  const mergeability = await computeMergeability(own.repository, baseNode, headNode);
  const commitOids = findDivergence(graph, baseNode, headNode)
    .right.map((node) => graph.oid(node))
    .toReversed();
  const pull = await insertPull(
    ctx,
    repo,
    { ...(isWriter ? input : pickForAll(input)), isPull: true },
    assignees,
    reviewers,
    {
      headRepo,
      headBranch,
      baseBranch,
      headOid: head.oid,
      baseOid: base.oid,
      mergeability,
      commitOids,
    },
  );
  try {
    await storeHead(ctx, pull, [own, other]);
  } catch (error) {
    // The pull request is stored already: a consequence of its event stores the head.
    log("pulls:head-not-stored", { issueId: pull.row.id, reason: String(error) });
  }
  return pull;
}

/** The repository of a head, as a request names it: without an owner the one of the base. */
interface NamedFork {
  readonly owner: string | undefined;
  /** "" for the oldest one. */
  readonly name: string;
}

/**
 * Parses a head.
 *
 * @throws Failure `invalid` for an expression of git.
 */
function parseHead(head: string): NamedFork & { branch: string } {
  const at = head.indexOf(":");
  const branch = head.slice(at + 1);
  refuseExpression(branch);
  const [owner, name = ""] = at < 0 ? [] : head.slice(0, at).split("/", 2);
  return { owner, name, branch: toBranch(branch) };
}

/** What everybody may choose of a pull request. */
const pickForAll = ({ title, body, allowMaintainerEdit }: NewPull) => ({
  title,
  body,
  allowMaintainerEdit,
});

const READ_CODE: Requirement = { unit: "code", mode: "read" };

/** Whether the caller may write to the code of a repository. */
const mayOffer = (repo: RepositoryContext): boolean =>
  isAllowed(repo, { unit: "code", mode: "write" });

/** Whether the caller was granted access to a repository that others may read, too. */
async function findIsInsider({ db, actor }: Ctx, { row }: RepositoryContext): Promise<boolean> {
  const [found] = await grantedRepository(db, {
    caller: callerArgument(actor),
    repoId: row.id,
  });
  return found !== undefined;
}

const grantedRepository = prepare(
  (db, { caller, repoId }: Params<{ caller: CallerArgument; repoId: number }>) =>
    db
      .select({ id: repositories.id })
      .from(repositories)
      .where(allOf(eq(repositories.id, repoId), isGrantedToPerson(toCallerSql(caller).actorId))),
);

/** Finds the repository of a head: one of the user's of the same fork network. */
async function findHeadRepository(
  ctx: Ctx,
  repo: RepositoryContext,
  { owner, name }: NamedFork,
): Promise<RepositoryContext> {
  const [lowerOwner, lowerName] = [owner?.toLowerCase(), name.toLowerCase()];
  const isItself = lowerName === "" || lowerName === repo.row.lowerName;
  if (lowerOwner === undefined || (lowerOwner === repo.owner.lowerName && isItself)) return repo;
  const [row] = await forkOf(ctx.db, {
    caller: callerArgument(ctx.actor),
    lowerOwner,
    lowerName,
    networkName: repo.row.networkName,
    repoId: repo.row.id,
  });
  if (!row) throw notFound("the user has no fork of the repository");
  return toRepositoryContext(ctx.actor, row);
}

interface NetworkMember {
  readonly caller: CallerArgument;
  readonly lowerOwner: string;
  /** "" for any. */
  readonly lowerName: string;
  readonly networkName: string;
  /** The repository whose family of forks it belongs to. */
  readonly repoId: number;
}

const forkOf = prepare(
  (db, { caller, lowerOwner, lowerName, networkName, repoId }: Params<NetworkMember>) =>
    selectRepositories(db, toCallerSql(caller))
      .where(
        allOf(
          eq(users.lowerName, lowerOwner),
          sql`(${lowerName} = '' or ${repositories.lowerName} = ${lowerName})`,
          eq(repositories.networkName, networkName),
          sql`${repositories.networkName} <> ''`,
          sql`${forkFamilyOf()} = ${forkFamilyOf(repoId)}`,
        ),
      )
      .orderBy(asc(repositories.id))
      .limit(1),
);

function requireBranch(snapshot: RepositorySnapshot, branch: string): StoredRef {
  const ref = findRef(snapshot, branchRef(branch));
  if (ref) return ref;
  const isTag = findRef(snapshot, `refs/tags/${branch}`) !== undefined;
  if (isTag) throw invalid("Invalid PullRequest: base and head must be branches");
  throw notFound("the branch does not exist");
}

/** The statement that inserts the timeline entry for the first commits of a pull request. */
const pushedStatements = (ctx: Ctx, repo: RepositoryContext, commitOids: readonly Oid[]) =>
  commitOids.length === 0
    ? []
    : [
        insertEntryOnNew(ctx, {
          kind: "pull_push",
          repoId: repo.row.id,
          body: toPushBody(false, commitOids),
        }),
      ];

/** The statements that ask for reviews of the new pull request. */
function askingStatements(ctx: Ctx, repo: RepositoryContext, reviewers: Reviewers) {
  if (reviewers.users.length + reviewers.teams.length === 0) return {};
  const posterId = ctx.actor.user?.id ?? null;
  return requestStatements(ctx, { repo, row: { posterId } }, reviewers);
}

/** The commits and branches of a new pull request. */
interface Ends {
  readonly headRepo: RepositoryContext;
  readonly headBranch: string;
  readonly baseBranch: string;
  readonly headOid: string;
  readonly baseOid: string;
  readonly mergeability: MergeabilityResult;
  /** The commits that only the head reaches, oldest first. */
  readonly commitOids: readonly Oid[];
}

async function insertPull(
  ctx: Ctx,
  repo: RepositoryContext,
  input: NewIssue & Pick<NewPull, "allowMaintainerEdit"> & { readonly isPull: true },
  assignees: readonly User[],
  reviewers: Reviewers,
  ends: Ends,
): Promise<PullContext> {
  const { headRepo, headBranch, baseBranch, headOid, baseOid } = ends;
  const { treeOid: _, ...mergeability } = ends.mergeability;
  const { milestoneId = 0, allowMaintainerEdit } = input;
  const pair = { repoId: repo.row.id, headRepoId: headRepo.row.id, headBranch, baseBranch };
  const row = boundRow(pulls, {
    ...pair,
    headOid,
    ...mergeability,
    checkedBaseOid: baseOid,
    checkedHeadOid: headOid,
    allowMaintainerEdit:
      headRepo.row.id !== repo.row.id &&
      mayOffer(headRepo) &&
      (allowMaintainerEdit ?? repo.row.pullSettings.defaultAllowMaintainerEdit),
  });
  const pullAndTips = storePull(ctx.db, { pair, milestoneId, row, baseOid, headOid });
  try {
    const found = await batch(ctx.db, {
      opening: openingStatements(ctx, repo, input, assignees, pullAndTips),
      pushed: pushedStatements(ctx, repo, ends.commitOids),
      ...askingStatements(ctx, repo, reviewers),
      ...pullStatements(ctx, repo),
    });
    const pull = toOnePull(ctx, repo, found);
    if (!pull) throw notFound();
    return pull;
  } catch (error) {
    if (isViolation(error, "NOT NULL", "pulls.head_branch")) {
      throw await asTaken(ctx, repo, isTaken(pair));
    }
    if (isViolation(error, "NOT NULL", "pulls.base_branch")) {
      throw notFound("milestone does not exist");
    }
    throw asOpeningRefusal(error);
  }
}

interface StoredPull {
  readonly pair: BranchPair;
  /** 0 for none. */
  readonly milestoneId: number;
  readonly row: BoundRow<Omit<typeof pulls.$inferInsert, "issueId">>;
  readonly baseOid: string;
  readonly headOid: string;
}

const storePull = prepareAll((db, p: Params<StoredPull>) => {
  const { milestoneId, row } = p;
  const { repoId, headRepoId, headBranch, baseBranch } = p.pair;
  const isMilestone = sql`(${milestoneId} = 0 or exists (
    select 1 from ${milestones}
    where ${milestones.id} = ${milestoneId} and ${milestones.repoId} = ${repoId}
  ))`;
  const hasOther = sql`exists (select 1 from ${pulls} where ${isTaken(p.pair)})`;
  return [
    insertSelect(
      db,
      pulls,
      {
        ...row,
        issueId: newIdIn(repoId),
        headBranch: onlyWhile<string>(sql`not ${hasOther}`, headBranch),
        baseBranch: onlyWhile<string>(isMilestone, baseBranch),
      },
      sql`where true`,
    ),
    db
      .insert(branchTips)
      .values([
        { repoId, branch: baseBranch, oid: p.baseOid },
        { repoId: headRepoId, branch: headBranch, oid: p.headOid },
      ])
      .onConflictDoNothing(),
  ] as const;
});
