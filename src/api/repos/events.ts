import { createRoute } from "@hono/zod-openapi";

import { listRepositoryEvents } from "../../domain/exchange/event-stream/list-events.ts";
import { refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { EventCursor, eventPage, eventPageOf } from "../event-cursor.ts";
import { inRepo } from "../guards/repository.ts";
import { RepoPath } from "./paths.ts";

export const repositoryEvents = endpoints();

repositoryEvents.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/events",
    operationId: "repoListEvents",
    tags: ["repository"],
    summary: "List a repository's events",
    description:
      "Returns events in the order they happened, after the cursor of an earlier response.",
    middleware: [inRepo("read:repository")] as const,
    request: { params: RepoPath, query: EventCursor },
    responses: { 200: eventPage, ...refusals(401, 403, 404, 410, 422) },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const page = await eventPageOf(c, c.req.valid("query"), (cursor) =>
      listRepositoryEvents(ctx, repo, cursor),
    );
    return c.json(page, 200);
  },
);
