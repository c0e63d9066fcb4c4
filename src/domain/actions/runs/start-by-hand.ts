import { and, asc, eq, lte, sql } from "drizzle-orm";

import { isUnitOn } from "../../../auth/access/unit-switches.ts";
import type { Ctx } from "../../../context.ts";
import {
  OWNER_PERMISSION,
  repositories,
  users,
  type WorkflowRun,
  workflows,
  workflowSchedules,
} from "../../../db/schema/index.ts";
import { columnsOf } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { forbidden, invalid, notFound } from "../../../lib/failure.ts";
import { logBug } from "../../../lib/log.ts";
import { WorkBudget } from "../../../lib/work-budget.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { branchRef } from "../../code/branches/find-branch.ts";
import { findNode } from "../../code/git/find-node.ts";
import { findRef, openSnapshot, type RepositorySnapshot } from "../../code/git/open-snapshot.ts";
import { requireNotArchived } from "../../issues/issue/require-issue-access.ts";
import { openPayloadSource, readPayload } from "../../exchange/webhooks/dispatch/read-payload.ts";
import { NO_NODE, type Node } from "../../../git/walk/commit-graph.ts";
import { readJobVariables } from "../variables/read-job-variables.ts";
import { readInputs, toInputsContext } from "../workflow/dispatch-inputs.ts";
import { parseCron } from "../workflow/parse-cron.ts";
import type { Workflow } from "../workflow/workflow.ts";
import { readMessage, subjectOfMessage } from "./commit-message.ts";
import { planRun } from "./plan-run.ts";
import { storePlanned } from "./store-planned.ts";
import { type ReadFile, readAll } from "./store-workflows.ts";
import { readWorkflowFiles } from "./workflow-files.ts";

/** A ref, its commit, and a workflow file there. */
interface Found {
  readonly snapshot: RepositorySnapshot;
  readonly ref: string;
  readonly node: Node;
  readonly read: ReadFile;
}

/** A workflow at a ref, which may be started there by hand. */
export interface Dispatchable {
  /** The name of its file. */
  readonly file: string;
  /** The full name. */
  readonly ref: string;
  readonly workflow: Workflow;
  readonly found: Found;
}

/**
 * Finds a workflow that is started by hand.
 *
 * @param file Its name in the directory of workflow files.
 * @param refName A branch or tag, by its short or full name.
 * @throws Failure `not_found` for an unknown file or ref; `forbidden` for one that is switched off;
 *   `invalid` for a workflow that has faults or is not to be started by hand.
 */
export async function findDispatchable(
  ctx: Ctx,
  repo: RepositoryContext,
  file: string,
  refName: string,
): Promise<Dispatchable> {
  const [known] = await switchOf(ctx.db, { repoId: repo.row.id, file });
  if (known?.isDisabled) throw forbidden("the workflow is disabled");
  const found = await findFile(ctx, repo, file, [
    refName,
    `refs/heads/${refName}`,
    `refs/tags/${refName}`,
  ]);
  if (!found) throw notFound();
  const { read } = found.read;
  if (read.kind === "faulty") throw invalid(read.faults[0]?.message ?? "");
  if (!read.workflow.triggers.has("workflow_dispatch")) {
    throw invalid("the workflow has no workflow_dispatch trigger");
  }
  return { file, ref: found.ref, workflow: read.workflow, found };
}

const switchOf = prepare((db, { repoId, file }: Params<{ repoId: number; file: string }>) =>
  db
    .select({ isDisabled: workflows.isDisabled })
    .from(workflows)
    .where(and(eq(workflows.repoId, repoId), eq(workflows.file, file))),
);

/**
 * Starts a workflow by hand.
 *
 * @param options.cause Starts of a workflow that have the same one start it once.
 * @throws Failure `invalid` for inputs that it does not take; `locked` in an archived repository.
 */
export async function dispatchWorkflow(
  ctx: Ctx,
  repo: RepositoryContext,
  { file, workflow, found }: Dispatchable,
  given: Readonly<Record<string, unknown>>,
  { cause = crypto.randomUUID() }: { readonly cause?: string } = {},
): Promise<WorkflowRun> {
  requireNotArchived(repo);
  const { actor } = ctx;
  const filled = readInputs(workflow, given);
  if ("fault" in filled) throw invalid(filled.fault);
  const run = await start(ctx, repo, found, workflow, {
    event: "workflow_dispatch",
    cause,
    actorId: actor.user?.id ?? 0,
    actorName: actor.user?.name ?? "",
    more: { inputs: filled.inputs, ref: found.ref, workflow: file },
    inputs: toInputsContext(workflow, filled.inputs),
  });
  if (!run) throw notFound();
  return run;
}

/** Schedules that one run of the task starts, and its work. */
const DUE_MAX = 50;
const WORK = { ms: 20_000, statements: 500 };

/**
 * Starts the workflows whose time has come, at the tip of the default branch. A time that was
 * missed is made up for once.
 */
export async function startScheduled(ctx: Ctx): Promise<void> {
  const { db, now } = ctx;
  const budget = new WorkBudget(now, WORK);
  const due = await db
    .select({
      schedule: columnsOf(workflowSchedules, "s"),
      repoId: sql<number>`${repositories.id}`.as("repo_id"),
    })
    .from(workflowSchedules)
    .innerJoin(repositories, eq(repositories.id, workflowSchedules.repoId))
    .innerJoin(
      workflows,
      and(
        eq(workflows.repoId, workflowSchedules.repoId),
        eq(workflows.file, workflowSchedules.file),
      ),
    )
    .where(lte(workflowSchedules.nextAt, now))
    .orderBy(asc(workflowSchedules.nextAt))
    .limit(DUE_MAX);
  for (const { schedule } of due) {
    if (budget.isExhausted) return;
    budget.consume(12);
    try {
      await startDue(ctx, schedule);
    } catch (error) {
      logBug(`schedule-${schedule.repoId}-${schedule.file}`, error);
    }
  }
}

async function startDue(
  ctx: Ctx,
  { repoId, file, cron, nextAt }: typeof workflowSchedules.$inferSelect,
): Promise<void> {
  const { db, now } = ctx;
  const next = (await parseCron(cron)).next(now);
  const isThis = and(
    eq(workflowSchedules.repoId, repoId),
    eq(workflowSchedules.file, file),
    eq(workflowSchedules.cron, cron),
    eq(workflowSchedules.nextAt, nextAt),
  );
  // Before the run, which may fail for ever: its cause makes it one for each time.
  const taken =
    next === undefined
      ? await db.delete(workflowSchedules).where(isThis).returning()
      : await db.update(workflowSchedules).set({ nextAt: next }).where(isThis).returning();
  if (taken.length === 0) return;
  const [row] = await db
    .select({ repo: columnsOf(repositories, "r"), isDisabled: workflows.isDisabled })
    .from(repositories)
    .innerJoin(workflows, and(eq(workflows.repoId, repositories.id), eq(workflows.file, file)))
    .where(eq(repositories.id, repoId));
  if (!row || row.isDisabled || !isUnitOn(row.repo, "actions") || !isUnitOn(row.repo, "code"))
    return;
  if (row.repo.archivedAt !== null || row.repo.isEmpty) return;
  const [owner] = await db.select().from(users).where(eq(users.id, row.repo.ownerId));
  if (!owner) return;
  const repo = { row: row.repo, owner, permission: OWNER_PERMISSION };
  const found = await findFile(ctx, repo, file, [branchRef(row.repo.defaultBranch)]);
  if (found?.read.read.kind !== "workflow") return;
  await start(ctx, repo, found, found.read.read.workflow, {
    event: "schedule",
    cause: `schedule.${cron}.${nextAt}`,
    actorId: 0,
    actorName: "",
    more: { schedule: cron },
  });
}

async function findFile(
  ctx: Ctx,
  repo: RepositoryContext,
  file: string,
  refs: readonly string[],
): Promise<Found | undefined> {
  const snapshot = await openSnapshot(ctx, repo);
  const ref = refs.find((name) => /^refs\/(?:heads|tags)\//.test(name) && findRef(snapshot, name));
  if (ref === undefined) return undefined;
  const node = await findNode(snapshot.repository, findRef(snapshot, ref)?.oid ?? null);
  if (node === NO_NODE) return undefined;
  const files = await readWorkflowFiles(snapshot.repository, node);
  const [read] = await readAll(files.filter((each) => each.file === file));
  return read && { snapshot, ref, node, read };
}

/** What a run has that no event of a repository causes. */
interface Cause {
  readonly event: "workflow_dispatch" | "schedule";
  readonly cause: string;
  readonly actorId: number;
  readonly actorName: string;
  /** Fields of the event. */
  readonly more: object;
  readonly inputs?: object;
}

async function start(
  ctx: Ctx,
  repo: RepositoryContext,
  { snapshot, ref, node, read }: Found,
  workflow: Workflow,
  { more, inputs, actorName, ...cause }: Cause,
): Promise<WorkflowRun | undefined> {
  const { id: repoId, ownerId } = repo.row;
  const anchor = { event: "repository", repoId, action: "created" } as const;
  const [source, variables, message] = await Promise.all([
    openPayloadSource(ctx, [anchor], cause.actorId),
    readJobVariables(ctx, { repoId, ownerId }),
    readMessage(snapshot, node),
  ]);
  const payload = await readPayload(source, anchor);
  const { repository, sender } = (payload?.body ?? {}) as { repository?: object; sender?: object };
  const base = {
    ...cause,
    repoId,
    file: read.file.file,
    payload: JSON.stringify({ ...more, repository, sender }),
    ref,
    headOid: snapshot.repository.graph.oid(node),
    headBranch: ref.replace(/^refs\/(?:heads|tags)\//, ""),
    pullNumber: null,
    baseBranch: "",
  };
  const names = { repoName: repo.row.name, ownerName: repo.owner.name, actorName };
  const planned = await planRun(ctx, workflow, base, names, {
    title: subjectOfMessage(message),
    vars: variables,
    ...(inputs && { inputs }),
  });
  return storePlanned(ctx, planned);
}
