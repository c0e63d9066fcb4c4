import { createRoute, z } from "@hono/zod-openapi";

import { createHook } from "../../domain/exchange/webhooks/hooks/create-hook.ts";
import { SITE_LEVELS, type HookOwner } from "../../domain/exchange/webhooks/hooks/hook-owner.ts";
import { listHooks } from "../../domain/exchange/webhooks/hooks/list-hooks.ts";
import { invalid } from "../../lib/failure.ts";
import { Hook, toHook } from "../../shapes/webhooks/hook.ts";
import { json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { siteAdmin } from "../guards/people.ts";
import { Paging, pageOf, readPageOrAll } from "../paging.ts";
import { atHooks } from "./at-hooks.ts";
import { addDeliveries } from "./deliveries.ts";
import { addHookById, addHookTest } from "./hook-routes.ts";
import { CreateHook, HookId, toHookOptions } from "./hook-body.ts";

export const siteHooks = endpoints();

const hookOwnerOf = (): HookOwner => ({ level: "site" });
const reading = atHooks(siteAdmin("read:admin"), hookOwnerOf);
const writing = atHooks(siteAdmin("write:admin"), hookOwnerOf);

const Listing = Paging.extend({
  type: z
    .enum([...SITE_LEVELS, "all"])
    .default("system")
    .openapi({
      description:
        "System webhooks, which fire for all repositories, default webhooks, which are copied to new repositories, or all",
    }),
});

const SYSTEM_FLAGS: ReadonlyMap<string, boolean> = new Map([
  ...["1", "t", "T", "TRUE", "true", "True"].map((text) => [text, true] as const),
  ...["0", "f", "F", "FALSE", "false", "False"].map((text) => [text, false] as const),
]);

/** @throws Failure `invalid` if the flag is not a boolean. */
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
    summary: "List system and default webhooks",
    middleware: [reading] as const,
    request: { query: Listing },
    responses: { 200: page(z.array(Hook), "The webhooks, oldest first"), ...refusals(401, 403) },
  }),
  async (c) => {
    const { ctx, hookOwner } = c.var;
    const query = c.req.valid("query");
    const levels = query.type === "all" ? SITE_LEVELS : [query.type];
    const items = await pageOf(
      c,
      query,
      (slice) => listHooks(ctx, hookOwner, slice, levels),
      readPageOrAll,
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
    summary: "Create a system or default webhook",
    middleware: [writing] as const,
    request: { body: { required: true, ...json(CreateHook, "The webhook") } },
    responses: {
      201: json(Hook, "The new webhook"),
      ...refusals(400, 401, 403, 422),
    },
  }),
  async (c) => {
    const { ctx, hookOwner } = c.var;
    const { type, ...sent } = c.req.valid("json");
    const siteLevel = toSiteLevel(sent.config.is_system_webhook);
    const hook = await createHook(ctx, hookOwner, { ...toHookOptions(sent), type, siteLevel });
    return c.json(toHook(hook), 201);
  },
);

const LEVEL = {
  path: "/admin/hooks",
  params: HookId,
  prefix: "admin",
  tag: "admin",
  webhook: "a system webhook",
  reading,
  writing,
} as const;

addHookById(siteHooks, LEVEL);
addHookTest(siteHooks, LEVEL);
addDeliveries(siteHooks, LEVEL);
