import { createRoute, z } from "@hono/zod-openapi";

import { addTime } from "../../domain/issues/times/add-time.ts";
import { deleteTime, resetTimes } from "../../domain/issues/times/delete-times.ts";
import {
  listIssueTimes,
  listOwnTimes,
  listRepositoryTimes,
  listUserTimes,
} from "../../domain/issues/times/list-times.ts";
import { toTrackedTime, TrackedTime } from "../../shapes/issues/tracked-time.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { signedIn } from "../guards/people.ts";
import { signedInRepo } from "../guards/repository.ts";
import { answerPage, done } from "../handlers.ts";
import { body, optionalText } from "../json-body.ts";
import { pageOf, Paging } from "../paging.ts";
import { PathId } from "../path-id.ts";
import { RepoPath } from "../repos/paths.ts";
import { IssuePath } from "./paths.ts";
import { readSentTime } from "./sent-time.ts";
import { OwnTimeListing, TimeListing } from "./time-query.ts";

const SECONDS_MAX = 2 ** 31 - 1;

const AddTime = body({
  time: z.int().min(1).max(SECONDS_MAX).openapi({ format: "int64", description: "In seconds" }),
  created: z.iso
    .datetime({ offset: true })
    .optional()
    .openapi({ format: "date-time", description: "When the work was done; now, if it is missing" }),
  user_name: optionalText(255).openapi({
    description: "Whose time it is; others than your own as an administrator of the repository",
  }),
}).openapi("AddTimeOption");

const TimePath = IssuePath.extend({ id: PathId.openapi({ description: "Id of the time" }) });
const UserTimesPath = RepoPath.extend({ user: z.string().openapi({ description: "Whose times" }) });

const timePage = page(z.array(TrackedTime), "The times, oldest booking first");

export const times = endpoints();

times.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/issues/{index}/times",
    operationId: "issueTrackedTimes",
    tags: ["issue"],
    summary: "List the time spent on an issue or pull request",
    description:
      "All for callers who may write to it, their own for others. `since` and `before` mean the moment of the booking, not when the work was done.",
    middleware: [signedInRepo("read:issue")] as const,
    request: { params: IssuePath, query: TimeListing },
    responses: { 200: timePage, ...refusals(401, 403, 404, 422) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { user: userName, ...query } = c.req.valid("query");
    const { index } = c.req.valid("param");
    const items = await pageOf(c, query, (slice) =>
      listIssueTimes(ctx, repo, index, { userName, ...query }, slice),
    );
    return c.json(
      items.map((each) => toTrackedTime(each, viewer)),
      200,
    );
  },
);

times.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/issues/{index}/times",
    operationId: "issueAddTime",
    tags: ["issue"],
    summary: "Add time spent on an issue or pull request",
    middleware: [signedInRepo("write:issue")] as const,
    request: { params: IssuePath, body: { required: true, ...json(AddTime, "The time") } },
    responses: {
      200: json(TrackedTime, "The added time"),
      ...refusals(400, 401, 403, 404, 413, 422),
    },
  }),
  async (c) => {
    const { ctx, repo, user, viewer } = c.var;
    const input = c.req.valid("json");
    const time = await addTime(ctx, repo, c.req.valid("param").index, user, {
      seconds: input.time,
      doneAt: input.created === undefined ? null : readSentTime("created", input.created),
      userName: input.user_name ?? "",
    });
    return c.json(toTrackedTime(time, viewer), 200);
  },
);

times.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/issues/{index}/times",
    operationId: "issueResetTime",
    tags: ["issue"],
    summary: "Delete all the time you spent on an issue or pull request",
    middleware: [signedInRepo("write:issue")] as const,
    request: { params: IssuePath },
    responses: { 204: empty("Your times are deleted"), ...refusals(400, 401, 403, 404) },
  }),
  (c) => done(c, ({ ctx, repo, user }) => resetTimes(ctx, repo, c.req.valid("param").index, user)),
);

times.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/issues/{index}/times/{id}",
    operationId: "issueDeleteTime",
    tags: ["issue"],
    summary: "Delete time spent on an issue or pull request",
    description: "Your own; that of others as an administrator of the site.",
    middleware: [signedInRepo("write:issue")] as const,
    request: { params: TimePath },
    responses: { 204: empty("The time is deleted"), ...refusals(400, 401, 403, 404) },
  }),
  async (c) => {
    const { ctx, repo, user } = c.var;
    const { index, id } = c.req.valid("param");
    await deleteTime(ctx, repo, index, user, id);
    return c.body(null, 204);
  },
);

times.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/times",
    operationId: "repoTrackedTimes",
    tags: ["repository"],
    summary: "List the time spent in a repository",
    description:
      "All for callers who may write to its issues or pull requests, their own for others. `since` and `before` mean the moment of the booking.",
    middleware: [signedInRepo("read:repository")] as const,
    request: { params: RepoPath, query: TimeListing },
    responses: { 200: timePage, ...refusals(400, 401, 403, 404, 422) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { user: userName, ...query } = c.req.valid("query");
    const items = await pageOf(c, query, (slice) =>
      listRepositoryTimes(ctx, repo, { userName, ...query }, slice),
    );
    return c.json(
      items.map((each) => toTrackedTime(each, viewer)),
      200,
    );
  },
);

times.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/times/{user}",
    operationId: "userTrackedTimes",
    tags: ["repository"],
    summary: "List the time that a user spent in a repository",
    description:
      "For the user, and for administrators of the repository. Without a limit, a page has as many items as a page can have.",
    middleware: [signedInRepo("read:repository")] as const,
    request: { params: UserTimesPath, query: Paging },
    responses: { 200: timePage, ...refusals(400, 401, 403, 404) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { page: number, limit } = c.req.valid("query");
    const query = { page: number, limit: limit > 0 ? limit : ctx.config.pageSizeMax };
    const items = await pageOf(c, query, (slice) =>
      listUserTimes(ctx, repo, c.req.valid("param").user, slice),
    );
    return c.json(
      items.map((each) => toTrackedTime(each, viewer)),
      200,
    );
  },
);

times.openapi(
  createRoute({
    method: "get",
    path: "/user/times",
    operationId: "userCurrentTrackedTimes",
    tags: ["user"],
    summary: "List the time you spent",
    description: "In all repositories whose issues you may still read.",
    middleware: [signedIn("read:user")] as const,
    request: { query: OwnTimeListing },
    responses: { 200: timePage, ...refusals(401, 403, 422) },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, user }, slice) => listOwnTimes(ctx, user, c.req.valid("query"), slice),
      toTrackedTime,
    ),
);
