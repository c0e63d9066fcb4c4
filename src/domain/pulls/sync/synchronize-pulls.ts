import { and, eq, gt, or, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { allOf } from "../../../db/db.ts";
import { events, pulls } from "../../../db/schema/index.ts";
import type { Consequence, RecordedEvent } from "../../../events/consequence.ts";
import type { Oid } from "../../../git/oid.ts";
import type { WorkBudget } from "../../../lib/work-budget.ts";
import type { StoredUpdate } from "../../../shapes/events/activity.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import { branchRef } from "../../code/branches/find-branch.ts";
import { findRef } from "../../code/git/open-snapshot.ts";
import { storeHead } from "../pull/store-head.ts";
import {
  type RenamedBranch,
  closeWithBranch,
  findMergedInto,
  followRename,
  retarget,
} from "./follow-branches.ts";
import { checkPulls } from "./check-pulls.ts";
import { byBase, loadPulls, PULLS_AT_ONCE } from "./load-pulls.ts";
import { storeMergeRefs } from "./merge-refs.ts";
import { moveHeads } from "./move-heads.ts";

/** The position at which an event continues: its task, and the last pull request of the task. */
interface SyncState {
  readonly task: number;
  readonly after: number;
}

const START: SyncState = { task: 0, after: 0 };

/**
 * Keeps pull requests in step with their branches.
 *
 * - Their heads follow the branch, also of a fork: `refs/pull/N/head`, entry and event of the push.
 * - A moved head or base is checked for mergeability again, which sets or removes
 *   `refs/pull/N/merge`.
 * - They follow a renamed branch, and close with a deleted branch or fork. If the deleted base was
 *   merged, they move to the base that it was merged into.
 *
 * Each step depends on the present state of the repositories and on conditions within its writes.
 * So events may be handled twice, late or in part. Work that a later event of the branch repeats is
 * left to that event.
 */
export const synchronizePulls: Consequence = {
  name: "pull-branches",
  kinds: [
    "repository.pushed",
    "repository.deleted",
    "issue.opened",
    "issue.reopened",
    "issue.closed",
    "pull.synchronized",
    "pull.retargeted",
    "pull.merged",
  ],
  // A pull request that is opened later has the values that its branches have by then.
  isNeeded: sql`case
    when ${events.type} = 'repository.pushed'
      then exists (select 1 from ${pulls} where ${pulls.repoId} = ${events.repoId})
        or exists (select 1 from ${pulls} where ${pulls.headRepoId} = ${events.repoId})
    when ${events.type} glob 'issue.*' then ${events.payload} ->> 'isPull'
    else 1
  end`,
  async handle(ctx, recorded, budget, state) {
    const { event } = recorded;
    const at = (state as SyncState | undefined) ?? START;
    budget.consume(3);
    switch (event.type) {
      case "repository.pushed":
        return followPush(ctx, event, budget, at);
      case "repository.deleted":
        return closeOfFork(ctx, event.repoId, budget, at);
      case "issue.opened":
      case "issue.reopened":
      case "issue.closed":
        if (event.isPull) await settlePull(ctx, event.issueId, budget);
        return undefined;
      case "pull.synchronized":
        // Others were checked in the step that moved their head.
        await settlePull(ctx, event.issueId, budget, eq(pulls.flow, "agit"));
        return undefined;
      case "pull.retargeted":
      case "pull.merged":
        await settlePull(ctx, event.issueId, budget);
        return undefined;
      default:
        return undefined;
    }
  },
};

/** Synchronizes one pull request, whose state may have changed since the event. */
async function settlePull(
  ctx: Ctx,
  issueId: number,
  budget: WorkBudget,
  condition?: SQL,
): Promise<void> {
  const [pull] = await loadPulls(ctx, allOf(eq(pulls.issueId, issueId), condition), 1);
  if (!pull) return;
  budget.consume(10);
  const { repo, headRepo, row } = pull;
  if (!row.isClosed) {
    await storeHead(ctx, pull);
    const follows = headRepo !== undefined && pull.pull.flow === "branch";
    const current = follows ? await moveHeads(ctx, repo, headRepo, [pull]) : [pull];
    await checkPulls(ctx, repo, current);
    return;
  }
  const stored = ctx.git.repository(repo.row);
  const state = await stored.snapshot([row.number]);
  const snapshot = { state, repository: await stored.openByBlock(state) };
  await storeMergeRefs(ctx, repo, snapshot, [], [row.number]);
}

/** Closes the open pull requests whose heads are in a deleted repository. Their commits stay. */
async function closeOfFork(
  ctx: Ctx,
  repoId: number,
  budget: WorkBudget,
  { after }: SyncState,
): Promise<SyncState | undefined> {
  const isOfFork = and(eq(pulls.headRepoId, repoId), eq(pulls.flow, "branch"));
  const page = await loadPulls(ctx, isPage(isOfFork, after));
  for (const pull of page) {
    budget.consume(1);
    await closeWithBranch(ctx, pull, undefined);
  }
  return next(page, START);
}

type PushEvent = Extract<RecordedEvent["event"], { type: "repository.pushed" }>;

/** Something to do for the pull requests of one branch. */
type Task =
  | (RenamedBranch & { readonly kind: "rename" })
  | { readonly kind: "base" | "head"; readonly branch: string; readonly update: StoredUpdate };

async function followPush(
  ctx: Ctx,
  event: PushEvent,
  budget: WorkBudget,
  at: SyncState,
): Promise<SyncState | undefined> {
  const tasks = listTasks(event.updates);
  if (tasks.length === 0) return undefined;
  const concerned = await findConcerned(ctx, event.repoId, tasks);
  const index = tasks.findIndex((_task, each) => each >= at.task && concerned.has(each));
  const task = tasks[index];
  if (!task) return undefined;
  const begin: SyncState = { task: index, after: index === at.task ? at.after : 0 };
  const rest = await runTask(ctx, event.repoId, task, budget, begin);
  if (rest) return rest;
  const isLast = [...concerned].every((each) => each <= index);
  return isLast ? undefined : { task: index + 1, after: 0 };
}

const HEADS = "refs/heads/";

/**
 * Lists the tasks of a push, in this order: renames first; then bases, so that a manual merge is
 * detected before the same push deletes the branch; then heads.
 */
function listTasks(updates: readonly StoredUpdate[]): Task[] {
  const branches = updates
    .filter(({ ref }) => ref.startsWith(HEADS))
    .map((update) => ({ branch: update.ref.slice(HEADS.length), update }));
  const renames = findRenamed(branches);
  const renamed = new Set(renames.map(({ from }) => from));
  const left = branches.filter(({ branch }) => !renamed.has(branch));
  return [
    ...renames.map(({ from, to }) => ({ kind: "rename" as const, from, to })),
    ...left.map(({ branch, update }) => ({ kind: "base" as const, branch, update })),
    ...left.map(({ branch, update }) => ({ kind: "head" as const, branch, update })),
  ];
}

/**
 * A push that deletes a single branch of a value, and creates a single other one with it, renames
 * the branch.
 */
function findRenamed(
  branches: readonly { readonly branch: string; readonly update: StoredUpdate }[],
): RenamedBranch[] {
  const created = new Map<Oid, string[]>();
  const deleted = new Map<Oid, string[]>();
  for (const { branch, update } of branches) {
    const { before, after } = update;
    if (before === null && after !== null)
      created.set(after, [...(created.get(after) ?? []), branch]);
    if (before !== null && after === null) {
      deleted.set(before, [...(deleted.get(before) ?? []), branch]);
    }
  }
  return [...deleted].flatMap(([oid, [from, ...otherNames]]) => {
    const [to, ...others] = created.get(oid) ?? [];
    const isClear = otherNames.length === 0 && others.length === 0;
    return from !== undefined && to !== undefined && isClear ? [{ from, to }] : [];
  });
}

/** The indexes of the tasks for whose branches there are pull requests. */
async function findConcerned(
  { db }: Ctx,
  repoId: number,
  tasks: readonly Task[],
): Promise<Set<number>> {
  const rows = tasks.map((task) => ({
    kind: task.kind,
    branch: task.kind === "rename" ? task.from : task.branch,
  }));
  const ofBase = sql`${pulls.repoId} = ${repoId} and ${pulls.baseBranch} = task.value ->> 'branch'`;
  const ofHead = sql`
    ${pulls.headRepoId} = ${repoId} and ${pulls.headBranch} = task.value ->> 'branch'`;
  const exists = (condition: SQL): SQL => sql`exists (select 1 from ${pulls} where ${condition})`;
  const found = await db
    .select({ at: sql<number>`task.key` })
    .from(sql`json_each(${JSON.stringify(rows)}) task`)
    .where(
      sql`case task.value ->> 'kind'
        when 'base' then ${exists(sql`${ofBase} and not ${pulls.isClosed}`)}
        when 'head' then ${exists(sql`${ofHead} and not ${pulls.isClosed}`)}
        else ${exists(ofBase)} or ${exists(ofHead)}
      end`,
    );
  return new Set(found.map(({ at }) => at));
}

async function runTask(
  ctx: Ctx,
  repoId: number,
  task: Task,
  budget: WorkBudget,
  at: SyncState,
): Promise<SyncState | undefined> {
  budget.consume(8);
  if (task.kind === "rename") {
    const [any] = await loadPulls(ctx, isOf(repoId, task.from) as SQL, 1);
    const repo = any?.repo.row.id === repoId ? any.repo : any?.headRepo;
    if (repo) await followRename(ctx, repo, task);
    return undefined;
  }
  const isOfBranch =
    task.kind === "base" ? isBase(repoId, task.branch) : isHead(repoId, task.branch);
  const page = await loadPulls(ctx, isPage(isOfBranch, at.after));
  const [first] = page;
  if (!first) return undefined;
  if (task.kind === "base") return followBase(ctx, task, page, budget, at);
  return followHead(ctx, task, page, budget, at);
}

const isBase = (repoId: number, branch: string) =>
  and(eq(pulls.repoId, repoId), eq(pulls.baseBranch, branch));

const isHead = (repoId: number, branch: string) =>
  and(eq(pulls.headRepoId, repoId), eq(pulls.headBranch, branch), eq(pulls.flow, "branch"));

const isOf = (repoId: number, branch: string) => or(isBase(repoId, branch), isHead(repoId, branch));

/** The condition for open pull requests behind the one with the id `after`. */
const isPage = (condition: SQL | undefined, after: number): SQL =>
  allOf(condition, eq(pulls.isClosed, false), gt(pulls.issueId, after));

/** The position at which the step after a page continues; undefined after the last page. */
const next = (page: readonly PullContext[], { task }: SyncState): SyncState | undefined => {
  const last = page.at(-1);
  return last && page.length === PULLS_AT_ONCE ? { task, after: last.row.id } : undefined;
};

type BranchTask = Exclude<Task, { kind: "rename" }>;

/** The present value of a branch; undefined if it does not exist. */
async function readTip(ctx: Ctx, repo: PullContext["repo"], branch: string) {
  const state = await ctx.git.repository(repo.row).snapshot("none");
  return findRef({ state }, branchRef(branch))?.oid;
}

async function followBase(
  ctx: Ctx,
  { branch, update }: BranchTask,
  page: readonly PullContext[],
  budget: WorkBudget,
  at: SyncState,
): Promise<SyncState | undefined> {
  const { repo } = page[0] as PullContext;
  const tip = await readTip(ctx, repo, branch);
  // A later push has its own event, which checks all of them.
  if ((tip ?? null) !== update.after) return undefined;
  if (tip !== undefined) {
    const done = await checkPulls(ctx, repo, page);
    const last = page[done - 1];
    return done < page.length && last ? { task: at.task, after: last.row.id } : next(page, at);
  }
  const into = await findMergedInto(ctx, repo, branch, update.before ?? "");
  for (const pull of page) {
    budget.consume(2);
    if (into !== undefined && (await retarget(ctx, pull, into))) continue;
    await closeWithBranch(ctx, pull, branch);
  }
  return next(page, at);
}

async function followHead(
  ctx: Ctx,
  { branch, update }: BranchTask,
  page: readonly PullContext[],
  budget: WorkBudget,
  at: SyncState,
): Promise<SyncState | undefined> {
  const headRepo = page[0]?.headRepo;
  if (!headRepo) return undefined;
  const isDeleted = update.after === null;
  if (isDeleted && (await readTip(ctx, headRepo, branch)) === undefined) {
    for (const [repo, group] of byBase(page)) {
      // Users who merge by hand often delete the branch at once.
      if (repo.row.pullSettings.autodetectManualMerge) await checkAll(ctx, repo, group);
      for (const pull of group) {
        budget.consume(1);
        await closeWithBranch(ctx, pull, branch);
      }
    }
    return next(page, at);
  }
  for (const [repo, group] of byBase(page)) {
    budget.consume(4 * group.length);
    const moved = await moveHeads(ctx, repo, headRepo, group, update);
    await checkAll(ctx, repo, moved);
  }
  return next(page, at);
}

async function checkAll(
  ctx: Ctx,
  repo: PullContext["repo"],
  all: readonly PullContext[],
): Promise<void> {
  for (let from = 0; from < all.length;) from += await checkPulls(ctx, repo, all.slice(from));
}
