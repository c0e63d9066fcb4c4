import { createRoute, z } from "@hono/zod-openapi";

import { changeQuota, findQuota } from "../../domain/people/quotas/change-quota.ts";
import { Int64 } from "../../shapes/json.ts";
import { json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { ownerForAdmin } from "../guards/account.ts";
import { body } from "../json-body.ts";
import { UserPath } from "../users/paths.ts";

export const quotas = endpoints();

const QuotaEntry = z
  .object({ limit: Int64.openapi({ description: "-1 for none" }), used: Int64 })
  .openapi("QuotaEntry");

const Quota = z
  .object({ repositories: QuotaEntry, bytes: QuotaEntry, tokens: QuotaEntry })
  .openapi("AccountQuota");

const limit = (max: number) => z.int().min(-1).max(max).optional();

const EditQuota = body({
  repositories: limit(1_000_000_000),
  bytes: limit(999_999_999_999),
  tokens: limit(1_000_000_000),
}).openapi("EditAccountQuota");

quotas.openapi(
  createRoute({
    method: "get",
    path: "/admin/users/{username}/quota",
    operationId: "adminGetQuota",
    tags: ["admin"],
    summary: "Get how much a user or an organization may have, and has",
    middleware: [ownerForAdmin("read:admin")] as const,
    request: { params: UserPath },
    responses: { 200: json(Quota, "The quota"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, account } = c.var;
    return c.json((await findQuota(ctx, account.name)).quota, 200);
  },
);

quotas.openapi(
  createRoute({
    method: "patch",
    path: "/admin/users/{username}/quota",
    operationId: "adminEditQuota",
    tags: ["admin"],
    summary: "Limit what a user or an organization may have",
    description:
      "-1 restores the service's limit; fields that are not sent keep their values. What is there already stays.",
    middleware: [ownerForAdmin("write:admin")] as const,
    request: { params: UserPath, body: { required: true, ...json(EditQuota, "The limits") } },
    responses: { 200: json(Quota, "The quota"), ...refusals(401, 403, 404, 422) },
  }),
  async (c) => {
    const { ctx, account } = c.var;
    const edited = await changeQuota(ctx, account, c.req.valid("json"));
    return c.json((await findQuota(ctx, edited.name)).quota, 200);
  },
);
