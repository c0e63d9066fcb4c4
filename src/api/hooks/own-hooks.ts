import { createRoute, z } from "@hono/zod-openapi";

import type { Ctx } from "../../context.ts";
import type { User } from "../../db/schema/index.ts";
import { createHook } from "../../domain/hooks/create-hook.ts";
import { deleteHook } from "../../domain/hooks/delete-hook.ts";
import { editHook } from "../../domain/hooks/edit-hook.ts";
import { findHook } from "../../domain/hooks/find-hook.ts";
import type { HookPlace } from "../../domain/hooks/hook-place.ts";
import { listHooks } from "../../domain/hooks/list-hooks.ts";
import { requireApprover } from "../../domain/hooks/require-approver.ts";
import { Hook, toHook } from "../../shapes/hook.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { signedIn } from "../guards/people.ts";
import { Paging, pageOf, readPageOrWhole } from "../paging.ts";
import { atHooks } from "./at-hooks.ts";
import { addDeliveries } from "./deliveries.ts";
import { CreateHook, EditHook, HookId, toWish } from "./hook-body.ts";

export const ownHooks = endpoints();

/** SECURITY: not for a token that reaches less than the webhooks tell. */
function placeOf({ ctx, user }: { ctx: Ctx; user: User }): HookPlace {
  const place = { level: "user", owner: user } as const;
  requireApprover(ctx.actor, place);
  return place;
}

const reading = atHooks(signedIn("read:user"), placeOf);
const writing = atHooks(signedIn("write:user"), placeOf);

ownHooks.openapi(
  createRoute({
    method: "get",
    path: "/user/hooks",
    operationId: "userListHooks",
    tags: ["user"],
    summary: "List the webhooks of your own",
    middleware: [reading] as const,
    request: { query: Paging },
    responses: { 200: page(z.array(Hook), "Oldest first"), ...refusals(401, 403) },
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

ownHooks.openapi(
  createRoute({
    method: "post",
    path: "/user/hooks",
    operationId: "userCreateHook",
    tags: ["user"],
    summary: "Create a webhook of your own",
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
    const hook = await createHook(ctx, place, { ...toWish(sent), type });
    return c.json(toHook(hook), 201);
  },
);

ownHooks.openapi(
  createRoute({
    method: "get",
    path: "/user/hooks/{id}",
    operationId: "userGetHook",
    tags: ["user"],
    summary: "Get a webhook of your own",
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

ownHooks.openapi(
  createRoute({
    method: "patch",
    path: "/user/hooks/{id}",
    operationId: "userEditHook",
    tags: ["user"],
    summary: "Change a webhook of your own; what is left out stays as it is",
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

ownHooks.openapi(
  createRoute({
    method: "delete",
    path: "/user/hooks/{id}",
    operationId: "userDeleteHook",
    tags: ["user"],
    summary: "Delete a webhook of your own",
    middleware: [writing] as const,
    request: { params: HookId },
    responses: { 204: empty("It is gone"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    await deleteHook(c.var.ctx, c.var.place, c.req.valid("param").id);
    return c.body(null, 204);
  },
);

addDeliveries(ownHooks, {
  path: "/user/hooks/{id}",
  params: HookId,
  prefix: "user",
  tag: "user",
  owner: "your own",
  reading,
  writing,
});
