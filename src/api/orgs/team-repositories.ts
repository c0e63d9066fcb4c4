import { createRoute, z } from "@hono/zod-openapi";

import { findTeam } from "../../domain/people/orgs/find-team.ts";
import {
  addTeamRepository,
  removeTeamRepository,
} from "../../domain/people/orgs/team-repositories.ts";
import { findTeamWithRepository } from "../../domain/repos/repository/find-team-with-repository.ts";
import {
  findTeamRepository,
  listTeamRepositories,
} from "../../domain/repos/repository/list-repositories.ts";
import { notFound } from "../../lib/failure.ts";
import { Repository, toRepository } from "../../shapes/repos/repository.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { signedIn } from "../guards/people.ts";
import { Paging, readPage, setPageHeaders } from "../paging.ts";
import { OrgPath, TeamPath } from "./paths.ts";

export const teamRepositories = endpoints();

const TeamRepositoryPath = TeamPath.extend(OrgPath.shape).extend({
  repo: z.string().openapi({ description: "The repository's name" }),
});

teamRepositories.openapi(
  createRoute({
    method: "get",
    path: "/teams/{id}/repos",
    operationId: "orgListTeamRepos",
    tags: ["organization"],
    summary: "List a team's repositories",
    middleware: [signedIn("read:organization")] as const,
    request: { params: TeamPath, query: Paging },
    responses: {
      200: page(z.array(Repository), "The repositories, by name"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, viewer } = c.var;
    const { id } = c.req.valid("param");
    const slice = readPage(ctx.config, c.req.valid("query"));
    // In parallel, to save a round trip: `findTeam` throws for callers who may not see the team.
    const [{ items, total }] = await Promise.all([
      listTeamRepositories(ctx, id, slice),
      findTeam(ctx, id),
    ]);
    setPageHeaders(c, slice, total);
    return c.json(
      items.map((repo) => toRepository(repo, viewer)),
      200,
    );
  },
);

teamRepositories.openapi(
  createRoute({
    method: "get",
    path: "/teams/{id}/repos/{org}/{repo}",
    operationId: "orgListTeamRepo",
    tags: ["organization"],
    summary: "Get a repository of a team",
    middleware: [signedIn("read:organization")] as const,
    request: { params: TeamRepositoryPath },
    responses: { 200: json(Repository, "The repository"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, viewer } = c.var;
    const { id, org, repo: name } = c.req.valid("param");
    const [repo] = await Promise.all([
      findTeamRepository(ctx, id, { owner: org, name }),
      findTeam(ctx, id),
    ]);
    if (!repo) throw notFound();
    return c.json(toRepository(repo, viewer), 200);
  },
);

teamRepositories.openapi(
  createRoute({
    method: "put",
    path: "/teams/{id}/repos/{org}/{repo}",
    operationId: "orgAddTeamRepository",
    tags: ["organization"],
    summary: "Add a repository to a team",
    description: "For members of the team who administer the repository, and owners.",
    middleware: [signedIn("write:organization")] as const,
    request: { params: TeamRepositoryPath },
    responses: { 204: empty("The team has the repository"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx } = c.var;
    const { id, org, repo: name } = c.req.valid("param");
    const { team, repo } = await findTeamWithRepository(ctx, id, { owner: org, name });
    await addTeamRepository(ctx, team, repo);
    return c.body(null, 204);
  },
);

teamRepositories.openapi(
  createRoute({
    method: "delete",
    path: "/teams/{id}/repos/{org}/{repo}",
    operationId: "orgRemoveTeamRepository",
    tags: ["organization"],
    summary: "Remove a repository from a team",
    description:
      "For members of the team who administer the repository, and owners. Without effect for a team with all repositories.",
    middleware: [signedIn("write:organization")] as const,
    request: { params: TeamRepositoryPath },
    responses: {
      204: empty("The team does not name the repository"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx } = c.var;
    const { id, org, repo: name } = c.req.valid("param");
    const { team, repo } = await findTeamWithRepository(ctx, id, { owner: org, name });
    await removeTeamRepository(ctx, team, repo);
    return c.body(null, 204);
  },
);
