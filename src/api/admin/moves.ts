import { createRoute, z } from "@hono/zod-openapi";

import { cancelMove, findRepositoryMove, listMoves } from "../../domain/moves/moves.ts";
import { startMove } from "../../domain/moves/start-move.ts";
import { Move, toMove } from "../../shapes/admin/move.ts";
import { json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { siteAdmin } from "../guards/people.ts";
import { body } from "../json-body.ts";
import { Paging, pageOf } from "../paging.ts";
import { PathId } from "../path-id.ts";

export const adminMoves = endpoints();

const MovePath = z.object({ id: PathId });

const StartMove = body({
  shard: z.int().min(1).max(2047).openapi({ description: "The number of the shard" }),
}).openapi("MoveRepositoryOption");

adminMoves.openapi(
  createRoute({
    method: "post",
    path: "/admin/repos/{owner}/{repo}/move",
    operationId: "adminMoveRepository",
    tags: ["admin"],
    summary: "Move a repository and its forks to another shard",
    description:
      "An extension. The move runs in the background, while the repository is used. For a moment, writes are answered 503.",
    middleware: [siteAdmin("write:admin")] as const,
    request: {
      params: z.object({ owner: z.string().max(100), repo: z.string().max(200) }),
      body: { required: true, ...json(StartMove, "Where to") },
    },
    responses: { 201: json(Move, "The move"), ...refusals(400, 401, 403, 404, 409, 422) },
  }),
  async (c) => {
    const { owner, repo: name } = c.req.valid("param");
    const target = c.req.valid("json").shard;
    return c.json(toMove(await startMove(c.var.ctx, { owner, name, target })), 201);
  },
);

adminMoves.openapi(
  createRoute({
    method: "get",
    path: "/admin/moves",
    operationId: "adminListMoves",
    tags: ["admin"],
    summary: "List the moves of repositories between shards",
    description: "An extension.",
    middleware: [siteAdmin("read:admin")] as const,
    request: { query: Paging },
    responses: { 200: page(z.array(Move), "The moves, newest first"), ...refusals(401, 403) },
  }),
  async (c) => {
    const { ctx } = c.var;
    const items = await pageOf(c, c.req.valid("query"), (slice) => listMoves(ctx, slice));
    return c.json(items.map(toMove), 200);
  },
);

adminMoves.openapi(
  createRoute({
    method: "get",
    path: "/admin/moves/{id}",
    operationId: "adminGetMove",
    tags: ["admin"],
    summary: "Get a move of a repository between shards",
    description: "An extension.",
    middleware: [siteAdmin("read:admin")] as const,
    request: { params: MovePath },
    responses: { 200: json(Move, "The move"), ...refusals(401, 403, 404) },
  }),
  async (c) => c.json(toMove(await findRepositoryMove(c.var.ctx, c.req.valid("param").id)), 200),
);

adminMoves.openapi(
  createRoute({
    method: "post",
    path: "/admin/moves/{id}/cancel",
    operationId: "adminCancelMove",
    tags: ["admin"],
    summary: "Cancel a move of a repository between shards",
    description:
      "An extension. The repository stays where it is. What has moved can't be cancelled.",
    middleware: [siteAdmin("write:admin")] as const,
    request: { params: MovePath },
    responses: { 200: json(Move, "The move"), ...refusals(401, 403, 404, 409) },
  }),
  async (c) => c.json(toMove(await cancelMove(c.var.ctx, c.req.valid("param").id)), 200),
);
