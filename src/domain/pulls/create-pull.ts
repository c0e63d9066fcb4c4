import { asc, eq, type SQL, sql } from "drizzle-orm";

import { callerSql } from "../../auth/caller-sql.ts";
import { isAllowed, modeOf, requireAccess } from "../../auth/access/permission.ts";
import type { Ctx } from "../../context.ts";
import { allOf, isViolation, onlyWhile } from "../../db/db.ts";
import { insertSelect } from "../../db/insert-select.ts";
import {
  ACCESS,
  branchTips,
  issues,
  pulls,
  repositories,
  type User,
  users,
} from "../../db/schema/index.ts";
import { conflict, forbidden, invalid, notFound } from "../../lib/failure.ts";
import { log } from "../../lib/log.ts";
import type { PullContext } from "../../shapes/pulls/pull-request.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import type { StoredRef } from "../../storage/repository-records.ts";
import { branchRef } from "../branches/find-branch.ts";
import { findRef, openSideBySide, type RepositorySnapshot } from "../git/open-snapshot.ts";
import {
  asOpeningRefusal,
  findNewAssignees,
  isNewIssue,
  type NewIssue,
  newIssueId,
  openingStatements,
} from "../issues/create-issue.ts";
import { requireNotArchived } from "../issues/require-issue-access.ts";
import { selectRepositories, toRepositoryContext } from "../repos/find-repository.ts";
import { pullStatements, toOnePull } from "./find-pull.ts";
import { judge, type Judgement } from "./judge.ts";
import { storeHead } from "./store-head.ts";

/** The input for a new pull request. */
export interface NewPull extends Omit<NewIssue, "ref" | "isClosed"> {
  /** A branch, or `user:branch` for one of the user's fork; branches also by their full ref name. */
  readonly head: string;
  readonly base: string;
}

/**
 * Opens a pull request of a branch into a branch of `repo`. The head becomes `refs/pull/N/head` there; no byte is copied
 * from a fork.
 *
 * @throws Failure `not_found` for a branch, a fork or a code unit that the caller can't see; `invalid` for a head that is
 * the base; `conflict` if an open one of these branches exists; `forbidden` for callers who may write to neither
 * repository; else as `createIssue`.
 */
export async function createPull(
  ctx: Ctx,
  repo: RepositoryContext,
  wanted: NewPull,
): Promise<PullContext> {
  requireNotArchived(repo);
  const baseBranch = toBranch(wanted.base);
  const { owner, branch: headBranch } = parseHead(wanted.head);
  const isWriter = modeOf(repo, "pulls") >= ACCESS.write;
  const [headRepo, assignees] = await Promise.all([
    findHeadRepository(ctx, repo, owner),
    findNewAssignees(ctx, repo, "pulls", isWriter ? (wanted.assignees ?? []) : []),
  ]);
  requireAccess(headRepo, { unit: "code", mode: "read" });
  const isOwn = headRepo.row.id === repo.row.id;
  if (isOwn && headBranch === baseBranch) {
    throw invalid("Invalid PullRequest: There are no changes between the head and the base");
  }
  // SECURITY: whoever may only read a repository can't offer the branches of others.
  if (!mayOffer(headRepo) && !mayOffer(repo)) throw forbidden("user must be a collaborator");
  const [own, other] = await openSideBySide(ctx, repo, headRepo);
  const base = requireBranch(own, baseBranch);
  const head = requireBranch(other, headBranch);
  const { graph } = own.repository;
  const [baseNode, headNode] = [graph.find(base.oid), graph.find(head.oid)];
  const judgement = await judge(own.repository, baseNode, headNode);
  const pull = await insertPull(
    ctx,
    repo,
    { ...(isWriter ? wanted : { title: wanted.title, body: wanted.body }), isPull: true },
    assignees,
    { headRepo, headBranch, baseBranch, headOid: head.oid, baseOid: base.oid, judgement },
  );
  try {
    await storeHead(ctx, pull, [own, other]);
  } catch (error) {
    // The pull request is stored already: a consequence of its event stores the head.
    log("pulls:head-not-stored", { issueId: pull.row.id, reason: String(error) });
  }
  return pull;
}

const HEADS = "refs/heads/";

const toBranch = (name: string): string =>
  name.startsWith(HEADS) ? name.slice(HEADS.length) : name;

/** Parses a head; `owner` is undefined for a branch of the repository itself. */
function parseHead(head: string): { owner: string | undefined; branch: string } {
  const at = head.indexOf(":");
  if (at < 0) return { owner: undefined, branch: toBranch(head) };
  return { owner: head.slice(0, at), branch: toBranch(head.slice(at + 1)) };
}

/** Whether the caller may write to the code of a repository. */
const mayOffer = (repo: RepositoryContext): boolean =>
  isAllowed(repo, { unit: "code", mode: "write" });

/** Finds the repository of a head: the user's one of the same fork network. */
async function findHeadRepository(
  ctx: Ctx,
  repo: RepositoryContext,
  owner: string | undefined,
): Promise<RepositoryContext> {
  const lowerOwner = owner?.toLowerCase();
  if (lowerOwner === undefined || lowerOwner === repo.owner.lowerName) return repo;
  const isFork: SQL = allOf(
    eq(users.lowerName, lowerOwner),
    eq(repositories.networkName, repo.row.networkName),
    sql`${repositories.networkName} <> ''`,
  );
  const [row] = await selectRepositories(ctx.db, callerSql(ctx.actor))
    .where(isFork)
    .orderBy(asc(repositories.id))
    .limit(1);
  if (!row) throw notFound("the user has no fork of the repository");
  return toRepositoryContext(ctx.actor, row);
}

function requireBranch(snapshot: RepositorySnapshot, branch: string): StoredRef {
  const ref = findRef(snapshot, branchRef(branch));
  if (ref) return ref;
  const isTag = findRef(snapshot, `refs/tags/${branch}`) !== undefined;
  if (isTag) throw invalid("Invalid PullRequest: base and head must be branches");
  throw notFound("the branch does not exist");
}

/** The commits and branches of a new pull request. */
interface Ends {
  readonly headRepo: RepositoryContext;
  readonly headBranch: string;
  readonly baseBranch: string;
  readonly headOid: string;
  readonly baseOid: string;
  readonly judgement: Judgement;
}

async function insertPull(
  ctx: Ctx,
  repo: RepositoryContext,
  wanted: NewIssue & { readonly isPull: true },
  assignees: readonly User[],
  ends: Ends,
): Promise<PullContext> {
  const { headRepo, headBranch, baseBranch, headOid, baseOid } = ends;
  const { treeOid: _, ...judgement } = ends.judgement;
  const isPair = allOf(
    eq(pulls.repoId, repo.row.id),
    eq(pulls.headRepoId, headRepo.row.id),
    eq(pulls.headBranch, headBranch),
    eq(pulls.baseBranch, baseBranch),
    eq(pulls.isClosed, false),
    eq(pulls.flow, "branch"),
  );
  const isTaken = sql`exists (select 1 from ${pulls} where ${isPair})`;
  const insert = insertSelect(
    ctx.db,
    pulls,
    {
      issueId: newIssueId(repo),
      repoId: repo.row.id,
      headRepoId: headRepo.row.id,
      headBranch: onlyWhile(sql`not ${isTaken}`, headBranch),
      baseBranch,
      headOid,
      ...judgement,
      judgedBaseOid: baseOid,
      judgedHeadOid: headOid,
      allowMaintainerEdit:
        headRepo.row.id !== repo.row.id && repo.row.pullSettings.defaultAllowMaintainerEdit,
    },
    sql`where true`,
  );
  const tips = ctx.db
    .insert(branchTips)
    .values([
      { repoId: repo.row.id, branch: baseBranch, oid: baseOid },
      { repoId: headRepo.row.id, branch: headBranch, oid: headOid },
    ])
    .onConflictDoNothing();
  try {
    const results = await ctx.db.batch([
      ...openingStatements(ctx, repo, wanted, assignees, [insert, tips]),
      ...pullStatements(ctx, repo, isNewIssue(repo)),
    ]);
    const [rows, heads] = results.slice(-2) as unknown as [
      Parameters<typeof toOnePull>[2],
      Parameters<typeof toOnePull>[3],
    ];
    const pull = toOnePull(ctx, repo, rows, heads);
    if (!pull) throw notFound();
    return pull;
  } catch (error) {
    if (isViolation(error, "NOT NULL", "pulls.head_branch")) {
      throw await asTaken(ctx, repo, isPair);
    }
    throw asOpeningRefusal(error);
  }
}

/** The refusal for a second open pull request of the same branches, in the words that bots parse. */
async function asTaken(ctx: Ctx, repo: RepositoryContext, isPair: SQL): Promise<unknown> {
  const [pull] = await ctx.db
    .select({ number: issues.number, ...columns })
    .from(pulls)
    .innerJoin(issues, eq(issues.id, pulls.issueId))
    .where(isPair)
    .limit(1);
  if (!pull) return conflict("pull request already exists for these targets");
  return conflict(
    `pull request already exists for these targets [id: ${pull.issueId}, issue_id: ${pull.issueId}, ` +
      `head_repo_id: ${pull.headRepoId}, base_repo_id: ${repo.row.id}, ` +
      `head_branch: ${pull.headBranch}, base_branch: ${pull.baseBranch}]`,
  );
}

const columns = {
  issueId: pulls.issueId,
  headRepoId: pulls.headRepoId,
  headBranch: pulls.headBranch,
  baseBranch: pulls.baseBranch,
};
