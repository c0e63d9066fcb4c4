import { createRoute, z } from "@hono/zod-openapi";

import { createHook } from "../../domain/exchange/webhooks/hooks/create-hook.ts";
import { deleteHook } from "../../domain/exchange/webhooks/hooks/delete-hook.ts";
import { editHook } from "../../domain/exchange/webhooks/hooks/edit-hook.ts";
import { findHook } from "../../domain/exchange/webhooks/hooks/find-hook.ts";
import { answerPage } from "../handlers.ts";
import { findTestRepository } from "../../domain/exchange/webhooks/dispatch/find-test-repository.ts";
import type { HookOwner } from "../../domain/exchange/webhooks/hooks/hook-owner.ts";
import { listHooks } from "../../domain/exchange/webhooks/hooks/list-hooks.ts";
import { testHook } from "../../domain/exchange/webhooks/dispatch/test-hook.ts";
import { Hook, toHook } from "../../shapes/webhooks/hook.ts";
import { countAction } from "../../entrance/count-action.ts";
import { empty, json, page, refusals } from "../answers.ts";
import type { endpoints } from "../endpoints.ts";
import type { Guard } from "../guards/guard.ts";
import { Paging, readPageOrAll } from "../paging.ts";
import type { PathId } from "../path-id.ts";
import { CreateHook, EditHook, toHookOptions } from "./hook-body.ts";

/** The parameters of the routes for the webhooks of one kind of owner. */
export interface HookRoutes {
  /** The path of the list. */
  path: `${string}/hooks`;
  /** The path parameters of a single webhook. */
  params: z.ZodObject<{ id: typeof PathId }>;
  /** The prefix of the operation ids. */
  prefix: "repo" | "org" | "user" | "admin";
  tag: string;
  /** A webhook of this owner in summaries, with an article: "a repository webhook". */
  webhook: string;
  reading: Guard<{ hookOwner: HookOwner }>;
  writing: Guard<{ hookOwner: HookOwner }>;
}

/** The query of a webhook test. */
export const TestQuery = z.object({
  ref: z.string().max(1024).default("").openapi({
    description:
      "The branch, tag or commit that the test push is about; the default branch if empty",
  }),
});

type Routes = ReturnType<typeof endpoints>;

/**
 * Adds the routes that list and create the webhooks of an owner.
 *
 * @param webhooks The listed webhooks in the summary: "a repository's webhooks".
 */
export function addHookList(
  routes: Routes,
  { path, params: hookParams, prefix, tag, webhook, reading, writing }: HookRoutes,
  webhooks: string,
): void {
  const params = hookParams.omit({ id: true });
  routes.openapi(
    createRoute({
      method: "get",
      path,
      operationId: `${prefix}ListHooks`,
      tags: [tag],
      summary: `List ${webhooks}`,
      middleware: [reading] as const,
      request: { params, query: Paging },
      responses: {
        200: page(z.array(Hook), "The webhooks, oldest first"),
        ...refusals(401, 403, 404),
      },
    }),
    (c) =>
      answerPage(
        c,
        ({ ctx, hookOwner }, slice) => listHooks(ctx, hookOwner, slice),
        toHook,
        readPageOrAll,
      ),
  );

  routes.openapi(
    createRoute({
      method: "post",
      path,
      operationId: `${prefix}CreateHook`,
      tags: [tag],
      summary: `Create ${webhook}`,
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

/** Adds the routes that get, edit and delete a webhook. */
export function addHookById(
  routes: Routes,
  { path: hooksPath, params, prefix, tag, webhook, reading, writing }: HookRoutes,
): void {
  const path = `${hooksPath}/{id}` as const;
  routes.openapi(
    createRoute({
      method: "get",
      path,
      operationId: `${prefix}GetHook`,
      tags: [tag],
      summary: `Get ${webhook}`,
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
      summary: `Edit ${webhook}`,
      description: "Fields that are not sent keep their values.",
      middleware: [writing] as const,
      request: { params, body: { required: true, ...json(EditHook, "The changes") } },
      responses: { 200: json(Hook, "The edited webhook"), ...refusals(400, 401, 403, 404, 422) },
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
      summary: `Delete ${webhook}`,
      middleware: [writing] as const,
      request: { params },
      responses: { 204: empty("The webhook was deleted"), ...refusals(401, 403, 404, 409) },
    }),
    async (c) => {
      await deleteHook(c.var.ctx, c.var.hookOwner, c.req.valid("param").id);
      return c.body(null, 204);
    },
  );
}

/**
 * Adds the route that tests a webhook of an owner with several repositories. It is an extension of
 * Gitea's API.
 */
export function addHookTest(
  routes: Routes,
  { path, params, prefix, tag, webhook, writing }: HookRoutes,
): void {
  routes.openapi(
    createRoute({
      method: "post",
      path: `${path}/{id}/tests`,
      operationId: `${prefix}TestHook`,
      tags: [tag],
      summary: `Test ${webhook} with a push event without changes`,
      middleware: [writing] as const,
      request: {
        params,
        query: TestQuery.extend({
          repo: z.string().min(1).max(255).openapi({
            description:
              "The repository that the test push is about, by its name or as `owner/name`",
          }),
        }),
      },
      responses: {
        204: empty("The test is queued if the webhook subscribes to pushes"),
        ...refusals(401, 403, 404, 422),
      },
    }),
    async (c) => {
      const { ctx, hookOwner } = c.var;
      const { repo: repoName, ref } = c.req.valid("query");
      await countAction(c, "WEBHOOK_TESTS");
      const repo = await findTestRepository(ctx, hookOwner, repoName);
      await testHook(ctx, hookOwner, repo, c.req.valid("param").id, ref);
      return c.body(null, 204);
    },
  );
}
