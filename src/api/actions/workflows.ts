import { createRoute, z } from "@hono/zod-openapi";

import {
  findWorkflow,
  listWorkflows,
  setWorkflowDisabled,
} from "../../domain/actions/runs/workflows.ts";
import { toWorkflow, Workflow, WorkflowPage } from "../../shapes/actions/workflow.ts";
import { empty, HEADERS, json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { done } from "../handlers.ts";
import { body } from "../json-body.ts";
import { Paging, readPage, setPageHeaders } from "../paging.ts";
import { RepoPath } from "../repos/paths.ts";

const WorkflowPath = RepoPath.extend({
  workflow_id: z.string().openapi({ description: "The name of its file", example: "ci.yml" }),
});

const DispatchOptions = body({
  ref: z.string().min(1).openapi({ description: "A branch or tag" }),
  inputs: z.record(z.string(), z.unknown()).default({}),
}).openapi("CreateActionWorkflowDispatch");

const reading = inRepo("read:repository", { unit: "actions", mode: "read" });
const writing = inRepo("write:repository", { unit: "actions", mode: "write" });

/** Workflows of default branches, by their files. */
export const workflows = endpoints();

workflows.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/actions/workflows",
    operationId: "ActionsListRepositoryWorkflows",
    tags: ["repository"],
    summary: "List the workflows of a repository's default branch",
    middleware: [reading] as const,
    request: { params: RepoPath, query: Paging },
    responses: {
      200: { ...json(WorkflowPage, "The workflows, by file"), headers: HEADERS.page },
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const slice = readPage(ctx.config, c.req.valid("query"));
    const { items, total } = await listWorkflows(ctx, repo.row, slice);
    setPageHeaders(c, slice, total);
    const shown = items.map((each) => toWorkflow(repo, each, viewer));
    return c.json({ workflows: shown, total_count: total }, 200);
  },
);

workflows.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/actions/workflows/{workflow_id}",
    operationId: "ActionsGetWorkflow",
    tags: ["repository"],
    summary: "Get a workflow",
    middleware: [reading] as const,
    request: { params: WorkflowPath },
    responses: { 200: json(Workflow, "The workflow"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const found = await findWorkflow(ctx, repo.row, c.req.valid("param").workflow_id);
    return c.json(toWorkflow(repo, found, viewer), 200);
  },
);

for (const [action, operationId, summary, isDisabled] of [
  ["disable", "ActionsDisableWorkflow", "Disable a workflow: no event starts it", true],
  ["enable", "ActionsEnableWorkflow", "Enable a workflow", false],
] as const) {
  workflows.openapi(
    createRoute({
      method: "put",
      path: `/repos/{owner}/{repo}/actions/workflows/{workflow_id}/${action}` as const,
      operationId,
      tags: ["repository"],
      summary,
      middleware: [writing] as const,
      request: { params: WorkflowPath },
      responses: { 204: empty("It is so"), ...refusals(401, 403, 404, 423) },
    }),
    (c) =>
      done(c, async ({ ctx, repo }) => {
        const { workflow_id: file } = c.req.valid("param");
        await setWorkflowDisabled(ctx, repo, file, isDisabled);
      }),
  );
}

workflows.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches",
    operationId: "ActionsDispatchWorkflow",
    tags: ["repository"],
    summary: "Start a workflow that has a workflow_dispatch trigger",
    middleware: [writing] as const,
    request: {
      params: WorkflowPath,
      body: { required: true, ...json(DispatchOptions, "The ref and the inputs") },
    },
    responses: { 204: empty("A run was made"), ...refusals(400, 401, 403, 404, 422, 423) },
  }),
  (c) =>
    done(c, async ({ ctx, repo }) => {
      const { dispatchWorkflow, findDispatchable } =
        await import("../../domain/actions/runs/start-by-hand.ts");
      const { workflow_id: file } = c.req.valid("param");
      const { ref, inputs } = c.req.valid("json");
      const found = await findDispatchable(ctx, repo, file, ref);
      await dispatchWorkflow(ctx, repo, found, inputs);
    }),
);
