import { createRoute, z } from "@hono/zod-openapi";

import { listShards, setShardOpen } from "../../domain/shards/shards.ts";
import { Shard, toShard } from "../../shapes/admin/shard.ts";
import { json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { siteAdmin } from "../guards/people.ts";
import { body } from "../json-body.ts";
import { Paging, pageOf } from "../paging.ts";
import { PathId } from "../path-id.ts";

export const adminShards = endpoints();

const EditShard = body({
  is_open: z.boolean().openapi({ description: "Whether new repositories may come here" }),
}).openapi("EditShardOption");

adminShards.openapi(
  createRoute({
    method: "get",
    path: "/admin/shards",
    operationId: "adminListShards",
    tags: ["admin"],
    summary: "List the shards",
    description: "The databases that have data of repositories, besides the first one.",
    middleware: [siteAdmin("read:admin")] as const,
    request: { query: Paging },
    responses: { 200: page(z.array(Shard), "The shards, by number"), ...refusals(401, 403) },
  }),
  async (c) => {
    const { ctx } = c.var;
    const items = await pageOf(c, c.req.valid("query"), (slice) => listShards(ctx, slice));
    return c.json(items.map(toShard), 200);
  },
);

adminShards.openapi(
  createRoute({
    method: "patch",
    path: "/admin/shards/{id}",
    operationId: "adminEditShard",
    tags: ["admin"],
    summary: "Open a shard for new repositories, or close it",
    description:
      "Repositories of a closed shard stay there. While none is open, new repositories come to the first database.",
    middleware: [siteAdmin("write:admin")] as const,
    request: {
      params: z.object({ id: PathId }),
      body: { required: true, ...json(EditShard, "The change") },
    },
    responses: { 200: json(Shard, "The shard"), ...refusals(401, 403, 404, 422) },
  }),
  async (c) => {
    const { id } = c.req.valid("param");
    const shard = await setShardOpen(c.var.ctx, id, c.req.valid("json").is_open);
    return c.json(toShard(shard), 200);
  },
);
