import { createRoute, z } from "@hono/zod-openapi";

import { addPushMirror } from "../../domain/exchange/mirrors/push/add-push-mirror.ts";
import {
  findPushMirror,
  listPushMirrors,
} from "../../domain/exchange/mirrors/push/find-push-mirror.ts";
import { removePushMirror } from "../../domain/exchange/mirrors/push/remove-push-mirror.ts";
import { requestPushes } from "../../domain/exchange/mirrors/push/request-push.ts";
import { requestSync } from "../../domain/exchange/mirrors/pull/request-sync.ts";
import { requireMirrors } from "../../domain/exchange/mirrors/require-mirrors.ts";
import { PushMirror, toPushMirror } from "../../shapes/repos/push-mirror.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { done } from "../handlers.ts";
import { body, optionalFlag, optionalText } from "../json-body.ts";
import { Paging, pageOf } from "../paging.ts";
import { RepoPath } from "./paths.ts";

export const mirrors = endpoints();

const MirrorPath = RepoPath.extend({
  name: z.string().openapi({ description: "The name of the push mirror" }),
});

const CreatePushMirror = body({
  remote_address: optionalText(4096).openapi({
    description: "An address with http or https. Credentials in it are taken out of it",
  }),
  remote_username: optionalText(255),
  remote_password: optionalText(4096),
  interval: optionalText(64).openapi({
    description: "As Go writes durations, such as 8h0m0s; 0 for none",
  }),
  sync_on_commit: optionalFlag().openapi({ description: "Push each push at once" }),
}).openapi("CreatePushMirrorOption");

mirrors.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/mirror-sync",
    operationId: "repoMirrorSync",
    tags: ["repository"],
    summary: "Synchronize a mirror",
    description: "The synchronization is queued. A mirror that was paused goes on with it.",
    middleware: [inRepo("write:repository", { unit: "code", mode: "write" })] as const,
    request: { params: RepoPath },
    responses: {
      200: empty("The synchronization is queued"),
      ...refusals(400, 401, 403, 404, 423),
    },
  }),
  async (c) => {
    await requestSync(c.var.ctx, c.var.repo);
    return c.body(null, 200);
  },
);

mirrors.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/push_mirrors",
    operationId: "repoListPushMirrors",
    tags: ["repository"],
    summary: "List the push mirrors of a repository",
    middleware: [inRepo("read:repository", { mode: "admin" })] as const,
    request: { params: RepoPath, query: Paging },
    responses: {
      200: page(z.array(PushMirror), "The push mirrors, oldest first"),
      ...refusals(400, 401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    requireMirrors(ctx);
    const items = await pageOf(c, c.req.valid("query"), (slice) =>
      listPushMirrors(ctx, repo, slice),
    );
    return c.json(
      items.map((mirror) => toPushMirror(mirror, repo.row)),
      200,
    );
  },
);

mirrors.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/push_mirrors",
    operationId: "repoAddPushMirror",
    tags: ["repository"],
    summary: "Add a push mirror",
    middleware: [inRepo("write:repository", { mode: "admin" })] as const,
    request: {
      params: RepoPath,
      body: { required: true, ...json(CreatePushMirror, "The push mirror") },
    },
    responses: {
      200: json(PushMirror, "The new push mirror"),
      ...refusals(400, 401, 403, 404, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const sent = c.req.valid("json");
    const mirror = await addPushMirror(ctx, repo, {
      address: sent.remote_address ?? "",
      username: sent.remote_username ?? "",
      password: sent.remote_password ?? "",
      interval: sent.interval ?? "",
      syncsOnCommit: sent.sync_on_commit ?? false,
    });
    return c.json(toPushMirror(mirror, repo.row), 200);
  },
);

mirrors.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/push_mirrors/{name}",
    operationId: "repoGetPushMirrorByRemoteName",
    tags: ["repository"],
    summary: "Get a push mirror",
    middleware: [inRepo("read:repository", { mode: "admin" })] as const,
    request: { params: MirrorPath },
    responses: {
      200: json(PushMirror, "The push mirror"),
      ...refusals(400, 401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    requireMirrors(ctx);
    const mirror = await findPushMirror(ctx, repo, c.req.valid("param").name);
    return c.json(toPushMirror(mirror, repo.row), 200);
  },
);

mirrors.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/push_mirrors/{name}",
    operationId: "repoDeletePushMirror",
    tags: ["repository"],
    summary: "Remove a push mirror",
    middleware: [inRepo("write:repository", { mode: "admin" })] as const,
    request: { params: MirrorPath },
    responses: {
      204: empty("The push mirror was removed"),
      ...refusals(400, 401, 403, 404, 423),
    },
  }),
  (c) => done(c, ({ ctx, repo }) => removePushMirror(ctx, repo, c.req.valid("param").name)),
);

mirrors.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/push_mirrors-sync",
    operationId: "repoPushMirrorSync",
    tags: ["repository"],
    summary: "Synchronize all push mirrors of a repository",
    description: "The synchronizations are queued. `last_error` of each reports how it ended.",
    middleware: [inRepo("write:repository", { mode: "admin" })] as const,
    request: { params: RepoPath },
    responses: {
      200: empty("The synchronizations are queued"),
      ...refusals(400, 401, 403, 404, 423),
    },
  }),
  async (c) => {
    await requestPushes(c.var.ctx, c.var.repo);
    return c.body(null, 200);
  },
);
