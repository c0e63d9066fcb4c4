import { createRoute } from "@hono/zod-openapi";

import { listRepositoryActivities } from "../../domain/exchange/activities/list-activities.ts";
import { toActivity } from "../../shapes/events/activity.ts";
import { refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { FeedPaging, feedPage } from "../feed-query.ts";
import { inRepo } from "../guards/repository.ts";
import { pageOf } from "../paging.ts";
import { RepoPath } from "./paths.ts";

export const repositoryActivities = endpoints();

repositoryActivities.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/activities/feeds",
    operationId: "repoListActivityFeeds",
    tags: ["repository"],
    summary: "List a repository's activities",
    middleware: [inRepo("read:repository")] as const,
    request: { params: RepoPath, query: FeedPaging },
    responses: { 200: feedPage, ...refusals(401, 403, 404, 422) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { date: dayAt, ...query } = c.req.valid("query");
    const items = await pageOf(c, query, (slice) =>
      listRepositoryActivities(ctx, repo.row, { dayAt }, slice),
    );
    return c.json(
      items.map((item) => toActivity(item, viewer)),
      200,
    );
  },
);
