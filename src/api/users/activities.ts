import { createRoute, z } from "@hono/zod-openapi";

import {
  countContributions,
  listUserActivities,
} from "../../domain/exchange/activities/list-activities.ts";
import { toActivity } from "../../shapes/events/activity.ts";
import { Int64 } from "../../shapes/json.ts";
import { json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { FeedPaging, feedPage } from "../feed-query.ts";
import { atAccount } from "../guards/account.ts";
import { pageOf, queryFlag } from "../paging.ts";
import { UserPath } from "./paths.ts";

export const userActivities = endpoints();

const UserHeatmapData = z
  .object({
    timestamp: Int64.openapi({ description: "The start of a quarter of an hour, in Unix seconds" }),
    contributions: Int64,
  })
  .openapi("UserHeatmapData");

userActivities.openapi(
  createRoute({
    method: "get",
    path: "/users/{username}/activities/feeds",
    operationId: "userListActivityFeeds",
    tags: ["user"],
    summary: "List a user's activities and those of the repositories they watch",
    middleware: [atAccount("read:user", { allowsAnonymous: true })] as const,
    request: {
      params: UserPath,
      query: FeedPaging.extend({
        "only-performed-by": queryFlag("Only activities of the user"),
      }),
    },
    responses: { 200: feedPage, ...refusals(401, 403, 404, 422) },
  }),
  async (c) => {
    const { ctx, account, viewer } = c.var;
    const { date: dayAt, "only-performed-by": isOwnOnly = false, ...query } = c.req.valid("query");
    const items = await pageOf(c, query, (slice) =>
      listUserActivities(ctx, account, { dayAt, isOwnOnly }, slice),
    );
    return c.json(
      items.map((item) => toActivity(item, viewer, account.id)),
      200,
    );
  },
);

userActivities.openapi(
  createRoute({
    method: "get",
    path: "/users/{username}/heatmap",
    operationId: "userGetHeatmapData",
    tags: ["user"],
    summary: "Get a user's contributions per quarter of an hour of the last year",
    middleware: [atAccount("read:user", { allowsAnonymous: true })] as const,
    request: { params: UserPath },
    responses: {
      200: json(
        z.array(UserHeatmapData),
        "The quarters of an hour with contributions, oldest first",
      ),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, account } = c.var;
    return c.json(await countContributions(ctx, account), 200);
  },
);
