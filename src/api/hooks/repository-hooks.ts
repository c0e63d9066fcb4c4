import { createRoute, z } from "@hono/zod-openapi";

import { ACCESS } from "../../db/schema/index.ts";
import { createHook } from "../../domain/hooks/create-hook.ts";
import { deleteHook } from "../../domain/hooks/delete-hook.ts";
import { editHook } from "../../domain/hooks/edit-hook.ts";
import { findHook } from "../../domain/hooks/find-hook.ts";
import type { HookPlace } from "../../domain/hooks/hook-place.ts";
import { listHooks } from "../../domain/hooks/list-hooks.ts";
import { testHook } from "../../domain/hooks/test-hook.ts";
import { Hook, toHook } from "../../shapes/hook.ts";
import type { RepositoryEntry } from "../../shapes/repository.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { Paging, pageOf, readPageOrWhole } from "../paging.ts";
import { PathId } from "../path-id.ts";
import { RepoPath } from "../repos/paths.ts";
import { atHooks, requireWebhooks } from "./at-hooks.ts";
import { addDeliveries } from "./deliveries.ts";
import { CreateHook, EditHook, toWish } from "./hook-body.ts";

export const repositoryHooks = endpoints();

const HookPath = RepoPath.extend({ id: PathId });

const placeOf = ({ entry }: { entry: RepositoryEntry }): HookPlace => ({
  level: "repository",
  repo: entry.repo,
});
const ADMINISTRATORS = { access: ACCESS.admin };
const reading = atHooks(inRepo("read:repository", ADMINISTRATORS), placeOf);
const writing = atHooks(inRepo("write:repository", ADMINISTRATORS), placeOf);

repositoryHooks.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/hooks",
    operationId: "repoListHooks",
    tags: ["repository"],
    summary: "List the webhooks of a repository",
    middleware: [reading] as const,
    request: { params: RepoPath, query: Paging },
    responses: { 200: page(z.array(Hook), "Oldest first"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, place } = c.var;
    const items = await pageOf(
      c,
      c.req.valid("query"),
      (slice) => listHooks(ctx, place, slice),
      readPageOrWhole,
    );
    return c.json(items.map(toHook), 200);
  },
);

repositoryHooks.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/hooks",
    operationId: "repoCreateHook",
    tags: ["repository"],
    summary: "Create a webhook of a repository",
    middleware: [writing] as const,
    request: { params: RepoPath, body: { required: true, ...json(CreateHook, "The webhook") } },
    responses: {
      201: json(Hook, "The new webhook"),
      ...refusals(400, 401, 403, 404, 422),
    },
  }),
  async (c) => {
    const { ctx, place } = c.var;
    const { type, ...sent } = c.req.valid("json");
    const hook = await createHook(ctx, place, { ...toWish(sent), type });
    return c.json(toHook(hook), 201);
  },
);

repositoryHooks.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/hooks/{id}",
    operationId: "repoGetHook",
    tags: ["repository"],
    summary: "Get a webhook of a repository",
    middleware: [reading] as const,
    request: { params: HookPath },
    responses: { 200: json(Hook, "The webhook"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, place } = c.var;
    const hook = await findHook(ctx, place, c.req.valid("param").id);
    return c.json(toHook(hook), 200);
  },
);

repositoryHooks.openapi(
  createRoute({
    method: "patch",
    path: "/repos/{owner}/{repo}/hooks/{id}",
    operationId: "repoEditHook",
    tags: ["repository"],
    summary: "Change a webhook of a repository; what is left out stays as it is",
    middleware: [writing] as const,
    request: { params: HookPath, body: { required: true, ...json(EditHook, "The changes") } },
    responses: {
      200: json(Hook, "The webhook now"),
      ...refusals(400, 401, 403, 404, 422),
    },
  }),
  async (c) => {
    const { ctx, place } = c.var;
    const { id } = c.req.valid("param");
    const hook = await editHook(ctx, place, id, toWish(c.req.valid("json")));
    return c.json(toHook(hook), 200);
  },
);

repositoryHooks.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/hooks/{id}",
    operationId: "repoDeleteHook",
    tags: ["repository"],
    summary: "Delete a webhook of a repository",
    middleware: [writing] as const,
    request: { params: HookPath },
    responses: { 204: empty("It is gone"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    await deleteHook(c.var.ctx, c.var.place, c.req.valid("param").id);
    return c.body(null, 204);
  },
);

repositoryHooks.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/hooks/{id}/tests",
    operationId: "repoTestHook",
    tags: ["repository"],
    summary: "Send a webhook of a repository a push that changed nothing",
    middleware: [inRepo("write:repository", ADMINISTRATORS)] as const,
    request: {
      params: HookPath,
      query: z.object({
        ref: z
          .string()
          .max(1024, "MaxSize")
          .default("")
          .openapi({ description: "Branch, tag or commit; the default branch, if none" }),
      }),
    },
    responses: {
      204: empty("It is on its way, where the webhook is told of pushes"),
      ...refusals(401, 403, 404, 422),
    },
  }),
  async (c) => {
    const { ctx, entry } = c.var;
    requireWebhooks(ctx);
    await testHook(ctx, entry, c.req.valid("param").id, c.req.valid("query").ref);
    return c.body(null, 204);
  },
);

addDeliveries(repositoryHooks, {
  path: "/repos/{owner}/{repo}/hooks/{id}",
  params: HookPath,
  prefix: "repo",
  tag: "repository",
  owner: "a repository",
  reading,
  writing,
});
