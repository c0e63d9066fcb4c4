import { createRoute } from "@hono/zod-openapi";

import { listOwnEvents } from "../../domain/events/list-events.ts";
import { refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { AccountEventCursor, accountEventPage, accountEventPageOf } from "../event-cursor.ts";
import { signedIn } from "../guards/people.ts";

export const ownEvents = endpoints();

ownEvents.openapi(
  createRoute({
    method: "get",
    path: "/user/events",
    operationId: "userCurrentListEvents",
    tags: ["user"],
    summary: "List events of your account and repositories",
    description:
      "Returns events in the order they happened, after the cursor of an earlier response.",
    middleware: [signedIn("read:user", "read:repository")] as const,
    request: { query: AccountEventCursor },
    responses: { 200: accountEventPage, ...refusals(401, 403, 422) },
  }),
  async (c) => {
    const { ctx, user } = c.var;
    const page = await accountEventPageOf(c, c.req.valid("query"), (cursor) =>
      listOwnEvents(ctx, user, cursor),
    );
    return c.json(page, 200);
  },
);
