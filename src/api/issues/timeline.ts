import { createRoute, z } from "@hono/zod-openapi";

import { listTimeline } from "../../domain/issues/timeline/list-timeline.ts";
import { TimelineComment, toTimelineComment } from "../../shapes/issues/timeline-comment.ts";
import { page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { answerPage } from "../handlers.ts";
import { Paging } from "../paging.ts";
import { IssuePath } from "./paths.ts";
import { TimeRange } from "./time-range.ts";

export const timeline = endpoints();

timeline.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/issues/{index}/timeline",
    operationId: "issueGetCommentsAndTimeline",
    tags: ["issue"],
    summary: "List the comments and events of an issue or pull request",
    middleware: [inRepo("read:issue")] as const,
    request: { params: IssuePath, query: Paging.extend(TimeRange.shape) },
    responses: {
      200: page(
        z.array(TimelineComment),
        "The entries, oldest first, except those that refer to what the caller may not see",
      ),
      ...refusals(401, 404),
    },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, repo }, slice) =>
        listTimeline(ctx, repo, c.req.valid("param").index, c.req.valid("query"), slice),
      toTimelineComment,
    ),
);
