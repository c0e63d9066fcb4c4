import { createRoute, z } from "@hono/zod-openapi";

import { isAllowed } from "../../auth/access/permission.ts";
import type { Ctx } from "../../context.ts";
import {
  addCollaborator,
  COLLABORATOR_PERMISSIONS,
} from "../../domain/repos/collaborators/add-collaborator.ts";
import {
  findPossibleCollaborator,
  findWithMode,
  type PossibleCollaborator,
} from "../../domain/repos/collaborators/find-collaborator.ts";
import {
  listAssignees,
  listCollaborators,
  listReviewers,
} from "../../domain/repos/collaborators/list-collaborators.ts";
import { removeCollaborator } from "../../domain/repos/collaborators/remove-collaborator.ts";
import { forbidden, invalid, notFound } from "../../lib/failure.ts";
import {
  CollaboratorPermission,
  toCollaboratorPermission,
} from "../../shapes/repos/collaborator-permission.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { User, toUser } from "../../shapes/users/user.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { signedInRepo } from "../guards/repository.ts";
import { answerPage } from "../handlers.ts";
import { body } from "../json-body.ts";
import { Paging, readPageOrAll } from "../paging.ts";
import { RepoPath } from "./paths.ts";

export const collaborators = endpoints();

const CollaboratorPath = RepoPath.extend({ collaborator: z.string() });

const AddCollaborator = body({
  permission: z.enum(COLLABORATOR_PERMISSIONS).default("write"),
}).openapi("AddCollaboratorOption");

collaborators.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/collaborators",
    operationId: "repoListCollaborators",
    tags: ["repository"],
    summary: "List a repository's collaborators",
    middleware: [signedInRepo("read:repository")] as const,
    request: { params: RepoPath, query: Paging },
    responses: {
      200: page(z.array(User), "The users, in the order in which they were added"),
      ...refusals(401, 403, 404),
    },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, repo }, slice) => listCollaborators(ctx, repo, slice),
      ({ user }, viewer) => toUser(user, viewer),
    ),
);

collaborators.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/collaborators/{collaborator}",
    operationId: "repoCheckCollaborator",
    tags: ["repository"],
    summary: "Check whether a user is a collaborator of a repository",
    middleware: [signedInRepo("read:repository")] as const,
    request: { params: CollaboratorPath },
    responses: {
      204: empty("The user is a collaborator"),
      ...refusals(401, 403, 422),
      404: empty("The user is no collaborator, or the repository is not visible to the caller"),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const found = await findNamed(ctx, repo, c.req.valid("param").collaborator);
    if (!found.isCollaborator) throw notFound();
    return c.body(null, 204);
  },
);

collaborators.openapi(
  createRoute({
    method: "put",
    path: "/repos/{owner}/{repo}/collaborators/{collaborator}",
    operationId: "repoAddCollaborator",
    tags: ["repository"],
    summary: "Add a collaborator to a repository, or change their permission",
    middleware: [signedInRepo("write:repository", { mode: "admin" })] as const,
    request: {
      params: CollaboratorPath,
      body: { required: true, ...json(AddCollaborator, "The permission") },
    },
    responses: {
      204: empty("The user is a collaborator with the permission"),
      ...refusals(401, 403, 404, 422),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const { user } = await findNamed(ctx, repo, c.req.valid("param").collaborator);
    await addCollaborator(ctx, repo, user, c.req.valid("json").permission);
    return c.body(null, 204);
  },
);

collaborators.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/collaborators/{collaborator}",
    operationId: "repoDeleteCollaborator",
    tags: ["repository"],
    summary: "Remove a collaborator from a repository",
    middleware: [signedInRepo("write:repository", { mode: "admin" })] as const,
    request: { params: CollaboratorPath },
    responses: {
      204: empty("The user is no collaborator"),
      ...refusals(401, 403, 404, 422),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const { user } = await findNamed(ctx, repo, c.req.valid("param").collaborator);
    await removeCollaborator(ctx, repo, user);
    return c.body(null, 204);
  },
);

/** @throws Failure `invalid` for a name that no account has, as far as the caller may know. */
async function findNamed(
  ctx: Ctx,
  repo: RepositoryContext,
  name: string,
): Promise<PossibleCollaborator> {
  const found = await findPossibleCollaborator(ctx, repo, name);
  if (!found) throw invalid(`user does not exist [uid: 0, name: ${name}]`);
  return found;
}

collaborators.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/collaborators/{collaborator}/permission",
    operationId: "repoGetRepoPermissions",
    tags: ["repository"],
    summary: "Get a user's permission in a repository",
    description:
      "By whatever it is granted: a role, a team, the visibility. Administrators of the repository may ask for everybody, others for themselves.",
    middleware: [signedInRepo("read:repository")] as const,
    request: { params: CollaboratorPath },
    responses: {
      200: json(CollaboratorPermission, "The permission"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, repo, user, viewer } = c.var;
    const { collaborator } = c.req.valid("param");
    const isOwn = collaborator.toLowerCase() === user.lowerName;
    if (!isOwn && !isAllowed(repo, { mode: "admin" })) throw forbidden(ONLY_OWN);
    const found = await findWithMode(ctx, repo, collaborator);
    if (!found) throw notFound();
    return c.json(toCollaboratorPermission(found.user, found.mode, viewer), 200);
  },
);

const ONLY_OWN =
  "Only admins can query all permissions, repo admins can query all repo permissions, collaborators can query only their own";

collaborators.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/assignees",
    operationId: "repoGetAssignees",
    tags: ["repository"],
    summary: "List the users to whom issues of a repository may be assigned",
    description: "The list is complete unless a page is requested.",
    middleware: [signedInRepo("read:repository")] as const,
    request: { params: RepoPath, query: Paging },
    responses: {
      200: page(z.array(User), "The users, by name, the owner last"),
      ...refusals(401, 403, 404),
    },
  }),
  (c) =>
    answerPage(c, ({ ctx, repo }, slice) => listAssignees(ctx, repo, slice), toUser, readPageOrAll),
);

collaborators.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/reviewers",
    operationId: "repoGetReviewers",
    tags: ["repository"],
    summary: "List the users from whom reviews of pull requests may be requested",
    description: "The list is complete unless a page is requested.",
    middleware: [signedInRepo("read:repository")] as const,
    request: { params: RepoPath, query: Paging },
    responses: {
      200: page(z.array(User), "The users, by name, the owner last"),
      ...refusals(401, 403, 404),
    },
  }),
  (c) =>
    answerPage(c, ({ ctx, repo }, slice) => listReviewers(ctx, repo, slice), toUser, readPageOrAll),
);
