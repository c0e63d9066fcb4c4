import { createRoute, z } from "@hono/zod-openapi";

import { mirrorEditStatements } from "../../domain/exchange/mirrors/pull/edit-mirror.ts";
import { createRepository } from "../../domain/repos/repository/create-repository.ts";
import { deleteRepository } from "../../domain/repos/repository/delete-repository.ts";
import { editRepository } from "../../domain/repos/repository/edit-repository.ts";
import { findRelated } from "../../domain/repos/repository/find-related.ts";
import { findRepositoryById } from "../../domain/repos/repository/find-repository.ts";
import { listReachableRepositories } from "../../domain/repos/repository/list-repositories.ts";
import { notFound } from "../../lib/failure.ts";
import { Repository, toRepository } from "../../shapes/repos/repository.ts";
import { empty, refusals, json, page } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { anyone, signedIn } from "../guards/people.ts";
import { inRepo } from "../guards/repository.ts";
import { answerPage } from "../handlers.ts";
import { Paging } from "../paging.ts";
import { PathId } from "../path-id.ts";
import { CreateRepository, toNewRepository } from "./create-repository-body.ts";
import { EditRepository, toEdit, toMirrorEdit } from "./edit-repository-body.ts";
import { RepoPath } from "./paths.ts";

export const repositories = endpoints();

repositories.openapi(
  createRoute({
    method: "post",
    path: "/user/repos",
    operationId: "createCurrentUserRepo",
    tags: ["repository", "user"],
    summary: "Create a repository",
    middleware: [signedIn("write:user", "write:repository")] as const,
    request: { body: { required: true, ...json(CreateRepository, "The repository") } },
    responses: {
      201: json(Repository, "The new repository"),
      ...refusals(400, 401, 403, 409, 422),
    },
  }),
  async (c) => {
    const { ctx, user, viewer } = c.var;
    const input = c.req.valid("json");
    const repo = await createRepository(
      ctx,
      { owner: user, creator: user, ownsOwner: true },
      toNewRepository(input),
    );
    return c.json(toRepository(repo, viewer), 201);
  },
);

repositories.openapi(
  createRoute({
    method: "get",
    path: "/user/repos",
    operationId: "userCurrentListRepos",
    tags: ["user"],
    summary: "List the repositories you own or have access to",
    middleware: [signedIn("read:user", "read:repository")] as const,
    request: { query: Paging },
    responses: {
      200: page(z.array(Repository), "The repositories, by owner and name"),
      ...refusals(401, 403),
    },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, user }, slice) => listReachableRepositories(ctx, user, slice),
      toRepository,
    ),
);

repositories.openapi(
  createRoute({
    method: "get",
    path: "/repositories/{id}",
    operationId: "repoGetByID",
    tags: ["repository"],
    summary: "Get a repository by its id",
    middleware: [anyone("read:repository")] as const,
    request: { params: z.object({ id: PathId }) },
    responses: {
      200: json(Repository, "The repository"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, viewer } = c.var;
    const repo = await findRepositoryById(ctx, c.req.valid("param").id);
    if (!repo) throw notFound();
    return c.json(toRepository(await findRelated(ctx, repo), viewer), 200);
  },
);

repositories.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}",
    operationId: "repoGet",
    tags: ["repository"],
    summary: "Get a repository",
    middleware: [inRepo("read:repository")] as const,
    request: { params: RepoPath },
    responses: {
      200: json(Repository, "The repository"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    return c.json(toRepository(await findRelated(ctx, repo), viewer), 200);
  },
);

repositories.openapi(
  createRoute({
    method: "patch",
    path: "/repos/{owner}/{repo}",
    operationId: "repoEdit",
    tags: ["repository"],
    summary: "Edit a repository",
    description: "Fields that are not sent keep their values.",
    middleware: [inRepo("write:repository", { mode: "admin" })] as const,
    request: { params: RepoPath, body: { required: true, ...json(EditRepository, "The changes") } },
    responses: {
      200: json(Repository, "The edited repository"),
      ...refusals(401, 403, 404, 422),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const sent = c.req.valid("json");
    const ofMirror = await mirrorEditStatements(ctx, repo.row, toMirrorEdit(sent));
    const edited = await editRepository(ctx, repo, toEdit(sent, repo.row), ofMirror);
    return c.json(toRepository(edited, viewer), 200);
  },
);

repositories.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}",
    operationId: "repoDelete",
    tags: ["repository"],
    summary: "Delete a repository",
    middleware: [inRepo("write:repository", { mode: "owner" }, { whileMigrating: true })] as const,
    request: { params: RepoPath },
    responses: {
      204: empty("The repository was deleted"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    if (!(await deleteRepository(c.var.ctx, c.var.repo))) throw notFound();
    return c.body(null, 204);
  },
);
