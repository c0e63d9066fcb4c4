import { createRoute, z } from "@hono/zod-openapi";

import { createHook } from "../../domain/webhooks/hooks/create-hook.ts";
import { deleteHook } from "../../domain/webhooks/hooks/delete-hook.ts";
import { editHook } from "../../domain/webhooks/hooks/edit-hook.ts";
import { findHook } from "../../domain/webhooks/hooks/find-hook.ts";
import { findTested } from "./find-tested.ts";
import type { HookOwner } from "../../domain/webhooks/hooks/hook-owner.ts";
import { listHooks } from "../../domain/webhooks/hooks/list-hooks.ts";
import { testHook } from "../../domain/webhooks/dispatch/test-hook.ts";
import { Hook, toHook } from "../../shapes/webhooks/hook.ts";
import { empty, json, page, refusals } from "../answers.ts";
import type { endpoints } from "../endpoints.ts";
import type { Guard } from "../guards/guard.ts";
import { Paging, pageOf, readPageOrAll } from "../paging.ts";
import type { PathId } from "../path-id.ts";
import { CreateHook, EditHook, toHookOptions } from "./hook-body.ts";

/** Webhooks of one kind of hookOwner, as their routes name them. */
export interface HookRoutes {
  /** Of all of them. */
  path: `${string}/hooks`;
  /** Of the path of one of them. */
  params: z.ZodObject<{ id: typeof PathId }>;
  /** What the ids of its operations begin with. */
  prefix: "repo" | "org" | "user" | "admin";
  tag: string;
  /** As summaries call the hookOwner. */
  owner: string;
  reading: Guard<{ hookOwner: HookOwner }>;
  writing: Guard<{ hookOwner: HookOwner }>;
}

/** What the push of a test leads to. */
export const TestQuery = z.object({
  ref: z
    .string()
    .max(1024, "MaxSize")
    .default("")
    .openapi({ description: "Branch, tag or commit; the default branch, if none" }),
});

type Routes = ReturnType<typeof endpoints>;

/** Adds the routes that list and create the webhooks of a hookOwner. */
export function addHookList(
  routes: Routes,
  { path, params: ofOne, prefix, tag, owner, reading, writing }: HookRoutes,
): void {
  const params = ofOne.omit({ id: true });
  routes.openapi(
    createRoute({
      method: "get",
      path,
      operationId: `${prefix}ListHooks`,
      tags: [tag],
      summary: `List the webhooks of ${owner}`,
      middleware: [reading] as const,
      request: { params, query: Paging },
      responses: { 200: page(z.array(Hook), "Oldest first"), ...refusals(401, 403, 404) },
    }),
    async (c) => {
      const { ctx, hookOwner } = c.var;
      const items = await pageOf(
        c,
        c.req.valid("query"),
        (slice) => listHooks(ctx, hookOwner, slice),
        readPageOrAll,
      );
      return c.json(items.map(toHook), 200);
    },
  );

  routes.openapi(
    createRoute({
      method: "post",
      path,
      operationId: `${prefix}CreateHook`,
      tags: [tag],
      summary: `Create a webhook of ${owner}`,
      middleware: [writing] as const,
      request: { params, body: { required: true, ...json(CreateHook, "The webhook") } },
      responses: { 201: json(Hook, "The new webhook"), ...refusals(400, 401, 403, 404, 422) },
    }),
    async (c) => {
      const { ctx, hookOwner } = c.var;
      const { type, ...sent } = c.req.valid("json");
      const hook = await createHook(ctx, hookOwner, { ...toHookOptions(sent), type });
      return c.json(toHook(hook), 201);
    },
  );
}

/** Adds the routes that get, change and delete one webhook of a hookOwner. */
export function addHookById(
  routes: Routes,
  { path: ofAll, params, prefix, tag, owner, reading, writing }: HookRoutes,
): void {
  const path = `${ofAll}/{id}` as const;
  routes.openapi(
    createRoute({
      method: "get",
      path,
      operationId: `${prefix}GetHook`,
      tags: [tag],
      summary: `Get a webhook of ${owner}`,
      middleware: [reading] as const,
      request: { params },
      responses: { 200: json(Hook, "The webhook"), ...refusals(401, 403, 404) },
    }),
    async (c) => {
      const { ctx, hookOwner } = c.var;
      return c.json(toHook(await findHook(ctx, hookOwner, c.req.valid("param").id)), 200);
    },
  );

  routes.openapi(
    createRoute({
      method: "patch",
      path,
      operationId: `${prefix}EditHook`,
      tags: [tag],
      summary: `Change a webhook of ${owner}; what is left out stays as it is`,
      middleware: [writing] as const,
      request: { params, body: { required: true, ...json(EditHook, "The changes") } },
      responses: { 200: json(Hook, "The webhook now"), ...refusals(400, 401, 403, 404, 422) },
    }),
    async (c) => {
      const { ctx, hookOwner } = c.var;
      const { id } = c.req.valid("param");
      const hook = await editHook(ctx, hookOwner, id, toHookOptions(c.req.valid("json")));
      return c.json(toHook(hook), 200);
    },
  );

  routes.openapi(
    createRoute({
      method: "delete",
      path,
      operationId: `${prefix}DeleteHook`,
      tags: [tag],
      summary: `Delete a webhook of ${owner}`,
      middleware: [writing] as const,
      request: { params },
      responses: { 204: empty("It is gone"), ...refusals(401, 403, 404, 409) },
    }),
    async (c) => {
      await deleteHook(c.var.ctx, c.var.hookOwner, c.req.valid("param").id);
      return c.body(null, 204);
    },
  );
}

/** Adds the route that tests a webhook of a hookOwner with many repositories. It is an extension of our own. */
export function addHookTest(
  routes: Routes,
  { path, params, prefix, tag, owner, writing }: HookRoutes,
): void {
  routes.openapi(
    createRoute({
      method: "post",
      path: `${path}/{id}/tests`,
      operationId: `${prefix}TestHook`,
      tags: [tag],
      summary: `Send a webhook of ${owner} a push that changed nothing`,
      middleware: [writing] as const,
      request: {
        params,
        query: TestQuery.extend({
          repo: z
            .string("repo is required")
            .min(1, "repo is required")
            .max(255, "MaxSize")
            .openapi({
              description: "The repository: its name, or `owner/name`",
            }),
        }),
      },
      responses: {
        204: empty("It is on its way, where the webhook is told of pushes"),
        ...refusals(401, 403, 404, 422),
      },
    }),
    async (c) => {
      const { ctx, hookOwner } = c.var;
      const { repo: repoName, ref } = c.req.valid("query");
      const repo = await findTested(ctx, hookOwner, repoName);
      await testHook(ctx, hookOwner, repo, c.req.valid("param").id, ref);
      return c.body(null, 204);
    },
  );
}
