import { createRoute } from "@hono/zod-openapi";

import { cancelImport } from "../../domain/exchange/imports/cancel-import.ts";
import { continueImport } from "../../domain/exchange/imports/continue-import.ts";
import { findImport } from "../../domain/exchange/imports/find-import.ts";
import { Migration, toMigration } from "../../shapes/repos/migration.ts";
import { json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo, signedInRepo } from "../guards/repository.ts";
import { body, optionalText } from "../json-body.ts";
import { RepoPath } from "./paths.ts";

const ContinueMigration = body({
  auth_username: optionalText(255),
  auth_password: optionalText(4096),
  auth_token: optionalText(4096).openapi({
    description: "Credentials for the other side; those that it has, if all are empty",
  }),
}).openapi("ContinueMigrationOption");

export const migrations = endpoints();

migrations.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/migration",
    operationId: "repoGetMigration",
    tags: ["repository"],
    summary: "Get how the migration of a repository goes on",
    middleware: [inRepo("read:repository", { mode: "admin" })] as const,
    request: { params: RepoPath },
    responses: {
      200: json(Migration, "The migration by which the repository came"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    return c.json(toMigration(await findImport(ctx, repo)), 200);
  },
);

migrations.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/migration/continue",
    operationId: "repoContinueMigration",
    tags: ["repository"],
    summary: "Continue the migration of a repository",
    description:
      "One that failed or was cancelled goes on where it ended; one that waits goes on at once; one that is done is repeated and takes what is new.",
    middleware: [
      signedInRepo("write:repository", { mode: "admin" }, undefined, { whileMigrating: true }),
    ] as const,
    request: {
      params: RepoPath,
      body: { required: false, ...json(ContinueMigration, "New credentials") },
    },
    responses: {
      202: json(Migration, "The migration, which goes on"),
      ...refusals(401, 403, 404, 409, 422),
    },
  }),
  async (c) => {
    const { ctx, repo, user } = c.var;
    const sent = c.req.valid("json");
    const row = await continueImport(ctx, repo, user, {
      username: sent.auth_username ?? "",
      password: sent.auth_password ?? "",
      token: sent.auth_token ?? "",
    });
    return c.json(toMigration(row), 202);
  },
);

migrations.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/migration/cancel",
    operationId: "repoCancelMigration",
    tags: ["repository"],
    summary: "Cancel the migration of a repository",
    description: "What has come stays; it can be continued.",
    middleware: [
      signedInRepo("write:repository", { mode: "admin" }, undefined, { whileMigrating: true }),
    ] as const,
    request: { params: RepoPath },
    responses: {
      200: json(Migration, "The migration, which has ended"),
      ...refusals(401, 403, 404, 409),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    return c.json(toMigration(await cancelImport(ctx, repo)), 200);
  },
);
