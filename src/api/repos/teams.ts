import { createRoute, z } from "@hono/zod-openapi";

import {
  addRepositoryTeam,
  findRepositoryTeam,
  listRepositoryTeams,
  removeRepositoryTeam,
} from "../../domain/people/orgs/repository-teams.ts";
import { Team, toTeam } from "../../shapes/orgs/team.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { signedInRepo } from "../guards/repository.ts";
import { answerPage, done } from "../handlers.ts";
import { Paging, readPageOrAll } from "../paging.ts";
import { RepoPath } from "./paths.ts";

export const repositoryTeams = endpoints();

const RepositoryTeamPath = RepoPath.extend({
  team: z.string().openapi({ description: "The team's name" }),
});

repositoryTeams.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/teams",
    operationId: "repoListTeams",
    tags: ["repository"],
    summary: "List a repository's teams",
    description: "For members of the organization, and administrators of the repository.",
    middleware: [signedInRepo("read:repository")] as const,
    request: { params: RepoPath, query: Paging },
    responses: {
      200: page(z.array(Team), "The owners, then other teams by name; all of them without `page`"),
      ...refusals(401, 403, 404, 405),
    },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, repo }, slice) => listRepositoryTeams(ctx, repo, slice),
      ({ team }, viewer) => toTeam(team, null, viewer),
      readPageOrAll,
    ),
);

repositoryTeams.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/teams/{team}",
    operationId: "repoCheckTeam",
    tags: ["repository"],
    summary: "Get a team of a repository",
    middleware: [signedInRepo("read:repository")] as const,
    request: { params: RepositoryTeamPath },
    responses: { 200: json(Team, "The team"), ...refusals(401, 403, 404, 405) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const team = await findRepositoryTeam(ctx, repo, c.req.valid("param").team);
    return c.json(toTeam(team, null, viewer), 200);
  },
);

repositoryTeams.openapi(
  createRoute({
    method: "put",
    path: "/repos/{owner}/{repo}/teams/{team}",
    operationId: "repoAddTeam",
    tags: ["repository"],
    summary: "Add a team to a repository",
    description:
      "For owners of the organization, members of its teams of administrators and, if the organization allows it, all administrators of the repository.",
    middleware: [signedInRepo("write:repository", { mode: "admin" })] as const,
    request: { params: RepositoryTeamPath },
    responses: {
      204: empty("The team has the repository"),
      ...refusals(401, 403, 404, 405, 422),
    },
  }),
  (c) => done(c, ({ ctx, repo }) => addRepositoryTeam(ctx, repo, c.req.valid("param").team)),
);

repositoryTeams.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/teams/{team}",
    operationId: "repoDeleteTeam",
    tags: ["repository"],
    summary: "Remove a team from a repository",
    description: "For the same callers as adding one. A team with all repositories stays.",
    middleware: [signedInRepo("write:repository", { mode: "admin" })] as const,
    request: { params: RepositoryTeamPath },
    responses: {
      204: empty("The team does not have the repository"),
      ...refusals(401, 403, 404, 405, 422),
    },
  }),
  (c) => done(c, ({ ctx, repo }) => removeRepositoryTeam(ctx, repo, c.req.valid("param").team)),
);
