import { createRoute } from "@hono/zod-openapi";

import { listOrganizationEvents } from "../../domain/exchange/event-stream/list-events.ts";
import { refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { EventCursor, eventPage, eventPageOf } from "../event-cursor.ts";
import { inOrg } from "../guards/account.ts";
import { OrgPath } from "./paths.ts";

export const organizationEvents = endpoints();

organizationEvents.openapi(
  createRoute({
    method: "get",
    path: "/orgs/{org}/events",
    operationId: "orgListEvents",
    tags: ["organization"],
    summary: "List an organization's events",
    description:
      "Returns events in the order they happened, after the cursor of an earlier response.",
    middleware: [
      inOrg(["read:organization", "read:repository"], { allowsAnonymous: true }),
    ] as const,
    request: { params: OrgPath, query: EventCursor },
    responses: { 200: eventPage, ...refusals(401, 403, 404, 410, 422) },
  }),
  async (c) => {
    const { ctx, org, membership } = c.var;
    const page = await eventPageOf(c, c.req.valid("query"), (cursor) =>
      listOrganizationEvents(ctx, org, membership, cursor),
    );
    return c.json(page, 200);
  },
);
