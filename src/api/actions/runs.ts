import { createRoute, z } from "@hono/zod-openapi";

import { inArray } from "drizzle-orm";

import { callerArgument, type CallerArgument, toCallerSql } from "../../auth/caller-sql.ts";
import type { Ctx } from "../../context.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import { repositories } from "../../db/schema/index.ts";
import { levelArgument } from "../../domain/actions/level.ts";
import { findRun } from "../../domain/actions/runs/find-run.ts";
import {
  findJob,
  findLastTask,
  type ListedJob,
  type ListedRun,
  listJobs,
  listRuns,
  listJobTasks,
  type RunFilter,
} from "../../domain/actions/runs/list-runs.ts";
import {
  selectRepositories,
  toRepositoriesById,
} from "../../domain/repos/repository/find-repository.ts";
import { malformed, notFound } from "../../lib/failure.ts";
import { statesOf } from "../../shapes/actions/work-status.ts";
import { TaskPage, toTask } from "../../shapes/actions/task.ts";
import { toWorkflowJob, WorkflowJob, WorkflowJobPage } from "../../shapes/actions/workflow-job.ts";
import { toWorkflowRun, WorkflowRun, WorkflowRunPage } from "../../shapes/actions/workflow-run.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { empty, HEADERS, json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { done } from "../handlers.ts";
import { Paging, readPage, setPageHeaders } from "../paging.ts";
import { PathId } from "../path-id.ts";
import { RepoPath } from "../repos/paths.ts";
import { LEVELS } from "./levels.ts";

const StatusFilter = Paging.extend({
  status: z.string().optional().openapi({
    description:
      "A status or a conclusion: queued, in_progress, waiting, pending, completed, success, failure, cancelled or skipped",
  }),
});

const RunsQuery = StatusFilter.extend({
  event: z.string().optional().openapi({ description: "The event that started it" }),
  branch: z.string().optional().openapi({ description: "The short name of its branch or tag" }),
  actor: z.string().optional().openapi({ description: "The name of who caused it" }),
  head_sha: z.string().optional().openapi({ description: "The id of its commit" }),
});

const RunPath = RepoPath.extend({ run: PathId });
const JobPath = RepoPath.extend({ job_id: PathId });

/** Loaded on first use, as all of Actions that is large. */
const loadChanges = () => import("../../domain/actions/runs/change-run.ts");

/** A change of a run. */
type Change = (
  changes: Awaited<ReturnType<typeof loadChanges>>,
  ctx: Ctx,
  repo: RepositoryContext,
  run: Awaited<ReturnType<typeof findRun>>,
) => Promise<void>;

const reading = inRepo("read:repository", { unit: "actions", mode: "read" });
const writing = inRepo("write:repository", { unit: "actions", mode: "write" });

/** @throws Failure `malformed` for an unknown status. */
function toFilter(
  of: RunFilter["of"],
  { status, event, branch, actor, head_sha: headOid }: Partial<z.infer<typeof RunsQuery>>,
): RunFilter {
  const states = status === undefined || status === "" ? undefined : statesOf(status);
  if (status && !states) throw malformed(`Invalid status ${status}`);
  const given = (text: string | undefined) => (text === "" ? undefined : text);
  return {
    of,
    states,
    event: given(event),
    branch: given(branch),
    actor: given(actor)?.toLowerCase(),
    headOid: given(headOid)?.toLowerCase(),
  };
}

/**
 * Finds the repositories of listed runs, with what the caller may do there.
 *
 * @param repo The repository of the path, if the list is that of one.
 */
async function findRepositories(
  { db, actor }: Ctx,
  repo: RepositoryContext | undefined,
  items: readonly (ListedRun | ListedJob)[],
): Promise<ReadonlyMap<number, RepositoryContext>> {
  if (repo) return new Map([[repo.row.id, repo]]);
  if (items.length === 0) return new Map();
  const caller = callerArgument(actor);
  const ids = items.map(({ run }) => run.repoId);
  return toRepositoriesById(actor, await repositoriesOf(db, { caller, ids: [...new Set(ids)] }));
}

interface RepositoriesOf {
  readonly caller: CallerArgument;
  readonly ids: readonly number[];
}

const repositoriesOf = prepare((db, { caller, ids }: Params<RepositoriesOf>) =>
  selectRepositories(db, toCallerSql(caller)).where(inArray(repositories.id, ids)),
);

/** The items whose repository still exists, with it. */
const withRepository = <T extends ListedRun | ListedJob>(
  items: readonly T[],
  found: ReadonlyMap<number, RepositoryContext>,
) =>
  items.flatMap((item) => {
    const repo = found.get(item.run.repoId);
    return repo ? [{ ...item, repo }] : [];
  });

/**
 * Runs of workflows and their jobs. Cancelling, approving and repeating runs, and the fields
 * `faults` and `needs_approval`, are extensions of Gitea's API.
 */
export const runs = endpoints();

const RUN_IDS = {
  repo: "getWorkflowRuns",
  org: "getOrgWorkflowRuns",
  user: "getUserWorkflowRuns",
  admin: "listAdminWorkflowRuns",
} as const;

const JOB_IDS = {
  repo: "listWorkflowJobs",
  org: "getOrgWorkflowJobs",
  user: "getUserWorkflowJobs",
  admin: "listAdminWorkflowJobs",
} as const;

for (const { path, params, prefix, tag, of, reading: administering } of LEVELS) {
  runs.openapi(
    createRoute({
      method: "get",
      path: `${path}/runs` as const,
      operationId: RUN_IDS[prefix],
      tags: [tag],
      summary: `List the runs of workflows ${of}`,
      middleware: [administering] as const,
      request: { params, query: RunsQuery },
      responses: {
        200: { ...json(WorkflowRunPage, "The runs, newest first"), headers: HEADERS.page },
        ...refusals(400, 401, 403, 404),
      },
    }),
    async (c) => {
      const { ctx, actionsLevel, repo, viewer } = c.var;
      const query = c.req.valid("query");
      const slice = readPage(ctx.config, query);
      const { items, total } = await listRuns(
        ctx,
        toFilter(levelArgument(actionsLevel), query),
        slice,
      );
      setPageHeaders(c, slice, total);
      const found = await findRepositories(ctx, repo, items);
      const shown = withRepository(items, found).map((item) => toWorkflowRun(item, viewer));
      return c.json({ workflow_runs: shown, total_count: total }, 200);
    },
  );

  runs.openapi(
    createRoute({
      method: "get",
      path: `${path}/jobs` as const,
      operationId: JOB_IDS[prefix],
      tags: [tag],
      summary: `List the jobs of workflows ${of}`,
      middleware: [administering] as const,
      request: { params, query: StatusFilter },
      responses: {
        200: { ...json(WorkflowJobPage, "The jobs, newest first"), headers: HEADERS.page },
        ...refusals(400, 401, 403, 404),
      },
    }),
    async (c) => {
      const { ctx, actionsLevel, repo, viewer } = c.var;
      const query = c.req.valid("query");
      const slice = readPage(ctx.config, query);
      const { items, total } = await listJobs(
        ctx,
        toFilter(levelArgument(actionsLevel), query),
        slice,
      );
      setPageHeaders(c, slice, total);
      const found = await findRepositories(ctx, repo, items);
      const shown = withRepository(items, found).map((item) => toWorkflowJob(item, viewer));
      return c.json({ jobs: shown, total_count: total }, 200);
    },
  );
}

runs.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/actions/runs/{run}",
    operationId: "GetWorkflowRun",
    tags: ["repository"],
    summary: "Get a run of a workflow",
    middleware: [reading] as const,
    request: { params: RunPath },
    responses: { 200: json(WorkflowRun, "The run"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { run: runId } = c.req.valid("param");
    const page = { size: 1, offset: 0 };
    const { items } = await listRuns(ctx, { of: { repoId: repo.row.id }, runId }, page);
    const [found] = items;
    if (!found) throw notFound();
    return c.json(toWorkflowRun({ ...found, repo }, viewer), 200);
  },
);

runs.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/actions/runs/{run}",
    operationId: "deleteActionRun",
    tags: ["repository"],
    summary: "Delete a run that has ended, with its logs",
    middleware: [writing] as const,
    request: { params: RunPath },
    responses: { 204: empty("The run was deleted"), ...refusals(400, 401, 403, 404, 423) },
  }),
  (c) =>
    done(c, async ({ ctx, repo }) => {
      const { deleteRun } = await loadChanges();
      await deleteRun(ctx, repo, await findRun(ctx, repo.row, { id: c.req.valid("param").run }));
    }),
);

for (const [action, operationId, summary, act] of [
  [
    "cancel",
    "cancelWorkflowRun",
    "Cancel a run of a workflow",
    ({ cancelRun }, ...of) => cancelRun(...of),
  ],
  [
    "approve",
    "approveWorkflowRun",
    "Let a run begin that waits for an approval",
    ({ approveRun }, ...of) => approveRun(...of),
  ],
  [
    "rerun",
    "rerunWorkflowRun",
    "Run all jobs of a workflow's run again",
    ({ rerun }, ...of) => rerun(...of, "all"),
  ],
  [
    "rerun-failed-jobs",
    "rerunFailedWorkflowRun",
    "Run the failed jobs of a workflow's run again, and those that need them",
    ({ rerun }, ...of) => rerun(...of, "failed"),
  ],
] as const satisfies readonly (readonly [string, string, string, Change])[]) {
  runs.openapi(
    createRoute({
      method: "post",
      path: `/repos/{owner}/{repo}/actions/runs/{run}/${action}` as const,
      operationId,
      tags: ["repository"],
      summary,
      middleware: [writing] as const,
      request: { params: RunPath },
      responses: { 204: empty("It is done"), ...refusals(400, 401, 403, 404, 423) },
    }),
    (c) =>
      done(c, async ({ ctx, repo }) => {
        await act(
          await loadChanges(),
          ctx,
          repo,
          await findRun(ctx, repo.row, { id: c.req.valid("param").run }),
        );
      }),
  );
}

runs.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/actions/runs/{run}/jobs",
    operationId: "listWorkflowRunJobs",
    tags: ["repository"],
    summary: "List the jobs of a run",
    middleware: [reading] as const,
    request: { params: RunPath, query: StatusFilter },
    responses: {
      200: {
        ...json(WorkflowJobPage, "The jobs, in the order of the file"),
        headers: HEADERS.page,
      },
      ...refusals(400, 401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const query = c.req.valid("query");
    const { run: runId } = c.req.valid("param");
    const slice = readPage(ctx.config, query);
    const filter = { ...toFilter({ repoId: repo.row.id }, query), runId };
    const { items, total } = await listJobs(ctx, filter, slice);
    // A run whose file can't be read has no jobs.
    if (total === 0) await findRun(ctx, repo.row, { id: runId });
    setPageHeaders(c, slice, total);
    const shown = items.map((item) => toWorkflowJob({ ...item, repo }, viewer));
    return c.json({ jobs: shown, total_count: total }, 200);
  },
);

runs.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/actions/jobs/{job_id}",
    operationId: "getWorkflowJob",
    tags: ["repository"],
    summary: "Get a job of a workflow's run",
    middleware: [reading] as const,
    request: { params: JobPath },
    responses: { 200: json(WorkflowJob, "The job"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const found = await findJob(ctx, repo.row, c.req.valid("param").job_id);
    if (!found) throw notFound();
    return c.json(toWorkflowJob({ ...found, repo }, viewer), 200);
  },
);

runs.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/actions/jobs/{job_id}/rerun",
    operationId: "rerunWorkflowJob",
    tags: ["repository"],
    summary: "Run a job of a run that has ended again, and those that need it",
    middleware: [writing] as const,
    request: { params: JobPath },
    responses: { 204: empty("It is done"), ...refusals(400, 401, 403, 404, 423) },
  }),
  (c) =>
    done(c, async ({ ctx, repo }) => {
      const found = await findJob(ctx, repo.row, c.req.valid("param").job_id);
      if (!found) throw notFound();
      const run = await findRun(ctx, repo.row, { id: found.run.id });
      const { rerun } = await loadChanges();
      await rerun(ctx, repo, run, { jobId: found.job.id });
    }),
);

runs.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/actions/jobs/{job_id}/logs",
    operationId: "downloadActionsRunJobLogs",
    tags: ["repository"],
    summary: "Download the log of a job's last attempt, or a range of it",
    middleware: [reading] as const,
    request: { params: JobPath },
    responses: {
      200: {
        description: "A line for each row, with its time",
        content: { "text/plain": { schema: z.string() } },
      },
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const found = await findLastTask(ctx, repo.row, c.req.valid("param").job_id);
    if (!found || found.task.logDeletedAt !== null) throw notFound();
    const name = `${found.file.replace(/\.ya?ml$/, "")}-${found.name}-${found.task.id}`;
    const { answerLog } = await import("../../entrance/answer-log.ts");
    return answerLog(ctx, found.task, name, c.req.raw);
  },
);

runs.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/actions/tasks",
    operationId: "ListActionTasks",
    tags: ["repository"],
    summary: "List the tasks of a repository: attempts at jobs",
    middleware: [reading] as const,
    request: { params: RepoPath, query: Paging },
    responses: {
      200: { ...json(TaskPage, "The tasks, newest first"), headers: HEADERS.page },
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const slice = readPage(ctx.config, c.req.valid("query"));
    const { items, total } = await listJobTasks(ctx, repo.row, slice);
    setPageHeaders(c, slice, total);
    const shown = items.map((item) => toTask(repo, item, viewer));
    return c.json({ workflow_runs: shown, total_count: total }, 200);
  },
);
