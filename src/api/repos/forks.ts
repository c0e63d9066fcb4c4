import { createRoute, z } from "@hono/zod-openapi";

import { isAllowed } from "../../auth/access/permission.ts";
import { findForkContext } from "../../domain/repos/repository/find-creation-context.ts";
import { forkRepository } from "../../domain/repos/repository/fork-repository.ts";
import { listForks } from "../../domain/repos/repository/list-forks.ts";
import { forbidden } from "../../lib/failure.ts";
import { Repository, toRepository } from "../../shapes/repos/repository.ts";
import { json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo, signedInRepo } from "../guards/repository.ts";
import { answerPage } from "../handlers.ts";
import { Paging } from "../paging.ts";
import { body, optionalText } from "../json-body.ts";
import { EXPIRY_FIELDS, toExpiryInput } from "./expiry-fields.ts";
import { RepoPath } from "./paths.ts";

const CreateFork = body({
  organization: optionalText(40).openapi({
    description: "The organization that owns the fork; the caller if empty",
  }),
  name: optionalText(100).openapi({
    description: "The name of the fork; the repository's name if empty",
  }),
  ...EXPIRY_FIELDS,
}).openapi("CreateForkOption");

export const forks = endpoints();

forks.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/forks",
    operationId: "createFork",
    tags: ["repository"],
    summary: "Fork a repository",
    middleware: [signedInRepo("write:repository")] as const,
    request: { params: RepoPath, body: { required: true, ...json(CreateFork, "The fork") } },
    responses: {
      202: json(Repository, "The new fork, ready to use"),
      ...refusals(400, 401, 403, 404, 409, 422),
    },
  }),
  async (c) => {
    const { ctx, repo, user, viewer } = c.var;
    const input = c.req.valid("json");
    if (!isAllowed(repo, { unit: "code", mode: "read" })) {
      throw forbidden("the code of this repository can't be read");
    }
    const creation = await findForkContext(ctx, user, input.organization);
    const fork = await forkRepository(ctx, repo, creation, {
      name: input.name,
      expiry: toExpiryInput(input),
    });
    return c.json(toRepository(fork, viewer), 202);
  },
);

forks.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/forks",
    operationId: "listForks",
    tags: ["repository"],
    summary: "List a repository's forks",
    middleware: [inRepo("read:repository")] as const,
    request: { params: RepoPath, query: Paging },
    responses: {
      200: page(z.array(Repository), "The forks, oldest first"),
      ...refusals(401, 403, 404),
    },
  }),
  (c) => answerPage(c, ({ ctx, repo }, slice) => listForks(ctx, repo, slice), toRepository),
);
