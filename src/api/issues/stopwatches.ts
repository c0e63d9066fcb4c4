import { createRoute, z } from "@hono/zod-openapi";

import {
  cancelStopwatch,
  startStopwatch,
  stopStopwatch,
} from "../../domain/issues/times/change-stopwatch.ts";
import { listStopwatches } from "../../domain/issues/times/list-stopwatches.ts";
import { StopWatch, toStopWatch } from "../../shapes/issues/stop-watch.ts";
import { empty, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { signedIn } from "../guards/people.ts";
import { signedInRepo } from "../guards/repository.ts";
import { answerPage, done } from "../handlers.ts";
import { Paging } from "../paging.ts";
import { IssuePath } from "./paths.ts";

export const stopwatches = endpoints();

stopwatches.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/issues/{index}/stopwatch/start",
    operationId: "issueStartStopWatch",
    tags: ["issue"],
    summary: "Start your stopwatch on an issue or pull request",
    description: "One that runs on another issue stops, and its time is added there.",
    middleware: [signedInRepo("write:issue")] as const,
    request: { params: IssuePath },
    responses: { 201: empty("The stopwatch runs"), ...refusals(401, 403, 404, 409) },
  }),
  async (c) => {
    const { ctx, repo, user } = c.var;
    await startStopwatch(ctx, repo, c.req.valid("param").index, user);
    return c.body(null, 201);
  },
);

stopwatches.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/issues/{index}/stopwatch/stop",
    operationId: "issueStopStopWatch",
    tags: ["issue"],
    summary: "Stop your stopwatch on an issue or pull request, and add its time",
    middleware: [signedInRepo("write:issue")] as const,
    request: { params: IssuePath },
    responses: { 201: empty("The time is added"), ...refusals(401, 403, 404, 409) },
  }),
  async (c) => {
    const { ctx, repo, user } = c.var;
    await stopStopwatch(ctx, repo, c.req.valid("param").index, user);
    return c.body(null, 201);
  },
);

stopwatches.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/issues/{index}/stopwatch/delete",
    operationId: "issueDeleteStopWatch",
    tags: ["issue"],
    summary: "Discard your stopwatch on an issue or pull request",
    middleware: [signedInRepo("write:issue")] as const,
    request: { params: IssuePath },
    responses: { 204: empty("The stopwatch is discarded"), ...refusals(401, 403, 404, 409) },
  }),
  (c) =>
    done(c, ({ ctx, repo, user }) => cancelStopwatch(ctx, repo, c.req.valid("param").index, user)),
);

stopwatches.openapi(
  createRoute({
    method: "get",
    path: "/user/stopwatches",
    operationId: "userGetStopWatches",
    tags: ["user"],
    summary: "List your running stopwatches",
    description: "On issues that you may still read.",
    middleware: [signedIn("read:user")] as const,
    request: { query: Paging },
    responses: { 200: page(z.array(StopWatch), "The stopwatches"), ...refusals(401, 403) },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, user }, slice) => listStopwatches(ctx, user, slice),
      (each) => toStopWatch(each, c.var.ctx.now),
    ),
);
