import { createRoute, z } from "@hono/zod-openapi";

import { findRepositoryInsights } from "../../domain/repos/repository/repository-insights.ts";
import { Int64 } from "../../shapes/json.ts";
import { json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { RepoPath } from "./paths.ts";

export const insights = endpoints();

insights.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/languages",
    operationId: "repoGetLanguages",
    tags: ["repository"],
    summary: "Get the languages of a repository",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: { params: RepoPath },
    responses: {
      200: json(
        z.record(z.string(), Int64),
        "Bytes per language on the default branch, the largest first",
      ),
      ...refusals(401, 403, 404, 413),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const { languages } = await findRepositoryInsights(ctx, repo);
    return c.json(Object.fromEntries(languages), 200);
  },
);

insights.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/licenses",
    operationId: "repoGetLicenses",
    tags: ["repository"],
    summary: "Get the licenses of a repository",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: { params: RepoPath },
    responses: {
      200: json(z.array(z.string()), "SPDX ids of the licenses at the root of the default branch"),
      ...refusals(401, 403, 404, 413),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    return c.json((await findRepositoryInsights(ctx, repo)).licenses, 200);
  },
);
