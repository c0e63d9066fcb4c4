import { createRoute, z } from "@hono/zod-openapi";

import { createHook } from "../../domain/hooks/create-hook.ts";
import { deleteHook } from "../../domain/hooks/delete-hook.ts";
import { editHook } from "../../domain/hooks/edit-hook.ts";
import { findHook } from "../../domain/hooks/find-hook.ts";
import { SITE_LEVELS, type HookPlace } from "../../domain/hooks/hook-place.ts";
import { listHooks } from "../../domain/hooks/list-hooks.ts";
import { invalid } from "../../lib/failure.ts";
import { Hook, toHook } from "../../shapes/hook.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { siteAdmin } from "../guards/people.ts";
import { Paging, pageOf, readPageOrWhole } from "../paging.ts";
import { atHooks } from "./at-hooks.ts";
import { addDeliveries } from "./deliveries.ts";
import { CreateHook, EditHook, HookId, toWish } from "./hook-body.ts";

export const siteHooks = endpoints();

const placeOf = (): HookPlace => ({ level: "site" });
const reading = atHooks(siteAdmin("read:admin"), placeOf);
const writing = atHooks(siteAdmin("write:admin"), placeOf);

const Listing = Paging.extend({
  type: z
    .enum([...SITE_LEVELS, "all"], "one of system, default, all")
    .default("system")
    .openapi({
      description: "Those that fire for all repositories, those that are copied to new ones",
    }),
});

const SYSTEM_FLAGS: ReadonlyMap<string, boolean> = new Map([
  ...["1", "t", "T", "TRUE", "true", "True"].map((text) => [text, true] as const),
  ...["0", "f", "F", "FALSE", "false", "False"].map((text) => [text, false] as const),
]);

/** @throws Failure `invalid` for what is no truth value. */
function toSiteLevel(flag: string | undefined): (typeof SITE_LEVELS)[number] {
  const isSystem = SYSTEM_FLAGS.get(flag || "false");
  if (isSystem === undefined) throw invalid("Invalid is_system_webhook value");
  return isSystem ? "system" : "default";
}

siteHooks.openapi(
  createRoute({
    method: "get",
    path: "/admin/hooks",
    operationId: "adminListHooks",
    tags: ["admin"],
    summary: "List the webhooks of the service",
    middleware: [reading] as const,
    request: { query: Listing },
    responses: { 200: page(z.array(Hook), "Oldest first"), ...refusals(401, 403) },
  }),
  async (c) => {
    const { ctx, place } = c.var;
    const query = c.req.valid("query");
    const levels = query.type === "all" ? SITE_LEVELS : [query.type];
    const items = await pageOf(
      c,
      query,
      (slice) => listHooks(ctx, place, slice, levels),
      readPageOrWhole,
    );
    return c.json(items.map(toHook), 200);
  },
);

siteHooks.openapi(
  createRoute({
    method: "post",
    path: "/admin/hooks",
    operationId: "adminCreateHook",
    tags: ["admin"],
    summary: "Create a webhook of the service",
    middleware: [writing] as const,
    request: { body: { required: true, ...json(CreateHook, "The webhook") } },
    responses: {
      201: json(Hook, "The new webhook"),
      ...refusals(400, 401, 403, 422),
    },
  }),
  async (c) => {
    const { ctx, place } = c.var;
    const { type, ...sent } = c.req.valid("json");
    const siteLevel = toSiteLevel(sent.config.is_system_webhook);
    const hook = await createHook(ctx, place, { ...toWish(sent), type, siteLevel });
    return c.json(toHook(hook), 201);
  },
);

siteHooks.openapi(
  createRoute({
    method: "get",
    path: "/admin/hooks/{id}",
    operationId: "adminGetHook",
    tags: ["admin"],
    summary: "Get a webhook of the service",
    middleware: [reading] as const,
    request: { params: HookId },
    responses: { 200: json(Hook, "The webhook"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, place } = c.var;
    const hook = await findHook(ctx, place, c.req.valid("param").id);
    return c.json(toHook(hook), 200);
  },
);

siteHooks.openapi(
  createRoute({
    method: "patch",
    path: "/admin/hooks/{id}",
    operationId: "adminEditHook",
    tags: ["admin"],
    summary: "Change a webhook of the service; what is left out stays as it is",
    middleware: [writing] as const,
    request: { params: HookId, body: { required: true, ...json(EditHook, "The changes") } },
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

siteHooks.openapi(
  createRoute({
    method: "delete",
    path: "/admin/hooks/{id}",
    operationId: "adminDeleteHook",
    tags: ["admin"],
    summary: "Delete a webhook of the service",
    middleware: [writing] as const,
    request: { params: HookId },
    responses: { 204: empty("It is gone"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    await deleteHook(c.var.ctx, c.var.place, c.req.valid("param").id);
    return c.body(null, 204);
  },
);

addDeliveries(siteHooks, {
  path: "/admin/hooks/{id}",
  params: HookId,
  prefix: "admin",
  tag: "admin",
  owner: "the service",
  reading,
  writing,
});
