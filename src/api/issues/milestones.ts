import { createRoute, z } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";

import { createMilestone } from "../../domain/issues/milestones/create-milestone.ts";
import { deleteMilestone } from "../../domain/issues/milestones/delete-milestone.ts";
import { findMilestone } from "../../domain/issues/milestones/find-milestone.ts";
import { listMilestones } from "../../domain/issues/milestones/list-milestones.ts";
import { requireMilestoneAccess } from "../../domain/issues/milestones/milestone-access.ts";
import { updateMilestone } from "../../domain/issues/milestones/update-milestone.ts";
import { Milestone, toMilestone } from "../../shapes/issues/milestone.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo, signedInRepo } from "../guards/repository.ts";
import { pageOf, Paging, readPageOrAll } from "../paging.ts";
import { RepoPath } from "../repos/paths.ts";
import {
  CreateMilestone,
  EditMilestone,
  readState,
  toMilestoneEdit,
  toNewMilestone,
} from "./milestone-body.ts";

export const milestones = endpoints();

/**
 * Follows the guard of a repository: admits callers who have the mode in its issues or pull
 * requests.
 */
const forMilestones =
  (mode: "read" | "write"): MiddlewareHandler<{ Variables: { repo: RepositoryContext } }> =>
  async (c, next) => {
    requireMilestoneAccess(c.var.repo, mode);
    await next();
  };

const MilestonePath = RepoPath.extend({
  id: z.string().openapi({ description: "The milestone's id, or its title" }),
});

const MilestoneListing = Paging.extend({
  state: z
    .string()
    .optional()
    .openapi({ description: "`open` or `closed`; anything else lists both" }),
  name: z.string().optional().openapi({ description: "A part of the title, in any case" }),
});

milestones.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/milestones",
    operationId: "issueGetMilestonesList",
    tags: ["issue"],
    summary: "List a repository's milestones",
    description:
      "Those without a due date first, then the nearest due date first. The list is complete unless a page is requested.",
    middleware: [inRepo("read:issue"), forMilestones("read")] as const,
    request: { params: RepoPath, query: MilestoneListing },
    responses: { 200: page(z.array(Milestone), "The milestones"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const query = c.req.valid("query");
    const filter = { isClosed: readState(query.state), name: query.name?.trim() ?? "" };
    const list = (slice: Parameters<typeof listMilestones>[3]) =>
      listMilestones(ctx, repo.row, filter, slice);
    const items = await pageOf(c, query, list, readPageOrAll);
    return c.json(items.map(toMilestone), 200);
  },
);

milestones.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/milestones",
    operationId: "issueCreateMilestone",
    tags: ["issue"],
    summary: "Create a milestone",
    middleware: [signedInRepo("write:issue"), forMilestones("write")] as const,
    request: {
      params: RepoPath,
      body: { required: true, ...json(CreateMilestone, "The milestone") },
    },
    responses: { 201: json(Milestone, "The new milestone"), ...refusals(401, 403, 404, 413, 422) },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const milestone = await createMilestone(ctx, repo, toNewMilestone(c.req.valid("json")));
    return c.json(toMilestone(milestone), 201);
  },
);

milestones.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/milestones/{id}",
    operationId: "issueGetMilestone",
    tags: ["issue"],
    summary: "Get a milestone",
    middleware: [inRepo("read:issue"), forMilestones("read")] as const,
    request: { params: MilestonePath },
    responses: { 200: json(Milestone, "The milestone"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    return c.json(toMilestone(await findMilestone(ctx, repo.row, c.req.valid("param").id)), 200);
  },
);

milestones.openapi(
  createRoute({
    method: "patch",
    path: "/repos/{owner}/{repo}/milestones/{id}",
    operationId: "issueEditMilestone",
    tags: ["issue"],
    summary: "Edit a milestone",
    description:
      "Omitted fields stay as they are, and so does the title if it is empty. A due date means the end of its day, in its own time zone; `0001-01-01T00:00:00Z` removes it.",
    middleware: [signedInRepo("write:issue"), forMilestones("write")] as const,
    request: {
      params: MilestonePath,
      body: { required: false, ...json(EditMilestone, "The fields to change") },
    },
    responses: {
      200: json(Milestone, "The edited milestone"),
      ...refusals(401, 403, 404, 413, 422),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const edit = toMilestoneEdit(c.req.valid("json"));
    const milestone = await findMilestone(ctx, repo.row, c.req.valid("param").id);
    return c.json(toMilestone(await updateMilestone(ctx, repo, milestone, edit)), 200);
  },
);

milestones.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/milestones/{id}",
    operationId: "issueDeleteMilestone",
    tags: ["issue"],
    summary: "Delete a milestone",
    description: "Its issues and pull requests stay, without a milestone.",
    middleware: [signedInRepo("write:issue"), forMilestones("write")] as const,
    request: { params: MilestonePath },
    responses: { 204: empty("The milestone is deleted"), ...refusals(401, 403, 404, 409) },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const milestone = await findMilestone(ctx, repo.row, c.req.valid("param").id);
    await deleteMilestone(ctx, repo, milestone);
    return c.body(null, 204);
  },
);
