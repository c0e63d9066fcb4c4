import { createRoute, z } from "@hono/zod-openapi";

import { findDeployKey, listDeployKeys } from "../../domain/people/keys/list-ssh-keys.ts";
import { addDeployKey, removeDeployKey } from "../../domain/people/keys/ssh-keys.ts";
import { unauthenticated } from "../../lib/failure.ts";
import { DeployKey, toDeployKey } from "../../shapes/keys/public-key.ts";
import { empty, refusals, json, page } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { answerPage, done } from "../handlers.ts";
import { body, optionalFlag, requiredText } from "../json-body.ts";
import { Paging, queryId, readPageOrAll } from "../paging.ts";
import { PathId } from "../path-id.ts";
import { RepoPath } from "./paths.ts";

export const deployKeys = endpoints();

const KeyPath = RepoPath.extend({ id: PathId });

const CreateDeployKey = body({
  title: requiredText(255),
  key: requiredText(16_384),
  read_only: optionalFlag(),
}).openapi("CreateDeployKeyOption");

deployKeys.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/keys",
    operationId: "repoListKeys",
    tags: ["repository"],
    summary: "List a repository's deploy keys",
    middleware: [inRepo("read:repository", { mode: "admin" })] as const,
    request: {
      params: RepoPath,
      query: Paging.extend({
        key_id: queryId("Only the key with this id"),
        fingerprint: z.string().max(128).default(""),
      }),
    },
    responses: {
      200: page(z.array(DeployKey), "The keys, oldest first"),
      ...refusals(401, 403, 404),
    },
  }),
  (c) => {
    const { fingerprint, key_id: id } = c.req.valid("query");
    return answerPage(
      c,
      ({ ctx, repo }, slice) => listDeployKeys(ctx, repo.row, { fingerprint, id }, slice),
      (key, viewer) => toDeployKey(key, c.var.repo, viewer),
      readPageOrAll,
    );
  },
);

deployKeys.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/keys",
    operationId: "repoCreateKey",
    tags: ["repository"],
    summary: "Add a deploy key",
    middleware: [inRepo("write:repository", { mode: "admin" })] as const,
    request: { params: RepoPath, body: { required: true, ...json(CreateDeployKey, "The key") } },
    responses: {
      201: json(DeployKey, "The new key"),
      ...refusals(401, 403, 404, 422),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { title, key, read_only } = c.req.valid("json");
    const { user } = ctx.actor;
    if (!user) throw unauthenticated("token is required");
    const added = await addDeployKey(ctx, user, repo.row, {
      title,
      key,
      isReadOnly: read_only ?? false,
    });
    return c.json(toDeployKey(added, repo, viewer), 201);
  },
);

deployKeys.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/keys/{id}",
    operationId: "repoGetKey",
    tags: ["repository"],
    summary: "Get a deploy key",
    middleware: [inRepo("read:repository", { mode: "admin" })] as const,
    request: { params: KeyPath },
    responses: {
      200: json(DeployKey, "The key"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { id } = c.req.valid("param");
    const key = await findDeployKey(ctx, repo.row, id);
    return c.json(toDeployKey(key, repo, viewer), 200);
  },
);

deployKeys.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/keys/{id}",
    operationId: "repoDeleteKey",
    tags: ["repository"],
    summary: "Remove a deploy key",
    middleware: [inRepo("write:repository", { mode: "admin" })] as const,
    request: { params: KeyPath },
    responses: {
      204: empty("The key was removed"),
      ...refusals(401, 403, 404),
    },
  }),
  (c) => done(c, ({ ctx, repo }) => removeDeployKey(ctx, repo.row, c.req.valid("param").id)),
);
