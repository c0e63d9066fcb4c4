import { createRoute } from "@hono/zod-openapi";

import { listOwnEvents } from "../../domain/exchange/event-stream/list-events.ts";
import { refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { EventCursor, eventPage, eventPageOf } from "../event-cursor.ts";
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
    request: { query: EventCursor },
    responses: { 200: eventPage, ...refusals(401, 403, 410, 422) },
  }),
  async (c) => {
    const { ctx, user } = c.var;
    const page = await eventPageOf(c, c.req.valid("query"), (cursor) =>
      listOwnEvents(ctx, user, cursor),
    );
    return c.json(page, 200);
  },
);
