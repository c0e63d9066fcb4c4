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
import { inOrg } from "../guards/account.ts";
import { OrgPath } from "../orgs/paths.ts";
import { Paging, pageOf, readPageOrWhole } from "../paging.ts";
import { PathId } from "../path-id.ts";
import { atHooks } from "./at-hooks.ts";
import { addDeliveries } from "./deliveries.ts";
import { CreateHook, EditHook, toWish } from "./hook-body.ts";

export const organizationHooks = endpoints();

const HookPath = OrgPath.extend({ id: PathId });

/** SECURITY: not for a token that reaches less than the webhooks tell. */
function placeOf({ ctx, org }: { ctx: Ctx; org: User }): HookPlace {
  const place = { level: "organization", owner: org } as const;
  requireApprover(ctx.actor, place);
  return place;
}

const OWNERS = { isOpen: false, needs: "ownership" } as const;
const reading = atHooks(inOrg("read:organization", OWNERS), placeOf);
const writing = atHooks(inOrg("write:organization", OWNERS), placeOf);

organizationHooks.openapi(
  createRoute({
    method: "get",
    path: "/orgs/{org}/hooks",
    operationId: "orgListHooks",
    tags: ["organization"],
    summary: "List the webhooks of an organization",
    middleware: [reading] as const,
    request: { params: OrgPath, query: Paging },
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

organizationHooks.openapi(
  createRoute({
    method: "post",
    path: "/orgs/{org}/hooks",
    operationId: "orgCreateHook",
    tags: ["organization"],
    summary: "Create a webhook of an organization",
    middleware: [writing] as const,
    request: { params: OrgPath, body: { required: true, ...json(CreateHook, "The webhook") } },
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

organizationHooks.openapi(
  createRoute({
    method: "get",
    path: "/orgs/{org}/hooks/{id}",
    operationId: "orgGetHook",
    tags: ["organization"],
    summary: "Get a webhook of an organization",
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

organizationHooks.openapi(
  createRoute({
    method: "patch",
    path: "/orgs/{org}/hooks/{id}",
    operationId: "orgEditHook",
    tags: ["organization"],
    summary: "Change a webhook of an organization; what is left out stays as it is",
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

organizationHooks.openapi(
  createRoute({
    method: "delete",
    path: "/orgs/{org}/hooks/{id}",
    operationId: "orgDeleteHook",
    tags: ["organization"],
    summary: "Delete a webhook of an organization",
    middleware: [writing] as const,
    request: { params: HookPath },
    responses: { 204: empty("It is gone"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    await deleteHook(c.var.ctx, c.var.place, c.req.valid("param").id);
    return c.body(null, 204);
  },
);

addDeliveries(organizationHooks, {
  path: "/orgs/{org}/hooks/{id}",
  params: HookPath,
  prefix: "org",
  tag: "organization",
  owner: "an organization",
  reading,
  writing,
});
