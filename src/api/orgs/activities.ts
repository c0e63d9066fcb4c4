import { createRoute, z } from "@hono/zod-openapi";

import {
  listOrganizationActivities,
  listTeamActivities,
} from "../../domain/exchange/activities/list-activities.ts";
import { findTeam } from "../../domain/people/orgs/find-team.ts";
import { toActivity } from "../../shapes/events/activity.ts";
import { refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { FeedPaging, feedPage } from "../feed-query.ts";
import { inOrg } from "../guards/account.ts";
import { signedIn } from "../guards/people.ts";
import { setPageHeaders, pageOf, readPage } from "../paging.ts";
import { PathId } from "../path-id.ts";
import { OrgPath } from "./paths.ts";

export const organizationActivities = endpoints();

organizationActivities.openapi(
  createRoute({
    method: "get",
    path: "/orgs/{org}/activities/feeds",
    operationId: "orgListActivityFeeds",
    tags: ["organization"],
    summary: "List activities in an organization's repositories",
    middleware: [inOrg("read:organization", { allowsAnonymous: true })] as const,
    request: { params: OrgPath, query: FeedPaging },
    responses: { 200: feedPage, ...refusals(401, 403, 404, 422) },
  }),
  async (c) => {
    const { ctx, org, viewer } = c.var;
    const { date: dayAt, ...query } = c.req.valid("query");
    const items = await pageOf(c, query, (slice) =>
      listOrganizationActivities(ctx, org, { dayAt }, slice),
    );
    return c.json(
      items.map((item) => toActivity(item, viewer, org.id)),
      200,
    );
  },
);

organizationActivities.openapi(
  createRoute({
    method: "get",
    path: "/teams/{id}/activities/feeds",
    operationId: "orgListTeamActivityFeeds",
    tags: ["organization"],
    summary: "List activities in a team's repositories",
    middleware: [signedIn("read:organization")] as const,
    request: { params: z.object({ id: PathId }), query: FeedPaging },
    responses: { 200: feedPage, ...refusals(401, 403, 404, 422) },
  }),
  async (c) => {
    const { ctx, viewer } = c.var;
    const { date: dayAt, ...query } = c.req.valid("query");
    const { id } = c.req.valid("param");
    const slice = readPage(ctx.config, query);
    // In parallel, to save a round trip: `findTeam` throws for callers who may not see the team.
    const [{ items, total }, { org }] = await Promise.all([
      listTeamActivities(ctx, id, { dayAt }, slice),
      findTeam(ctx, id),
    ]);
    setPageHeaders(c, slice, total);
    return c.json(
      items.map((item) => toActivity(item, viewer, org.id)),
      200,
    );
  },
);
