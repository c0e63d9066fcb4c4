import { z } from "@hono/zod-openapi";
import type { Context } from "hono";

import type { EventSlice, Cursor } from "../domain/exchange/event-stream/list-events.ts";
import { EventPage, toEvent } from "../shapes/events/event.ts";
import { json } from "./answers.ts";
import type { GuardVariables } from "./guards/guard.ts";
import { queryInteger, readPage } from "./paging.ts";

/**
 * The query of an event stream. An invalid cursor is refused: reading it as 0 would restart the
 * stream.
 */
export const EventCursor = z.object({
  after: z
    .string()
    .regex(/^\d{1,15}$/, "must be the `next` of an earlier answer")
    .transform(Number)
    .optional()
    .openapi({
      type: "integer",
      format: "int64",
      description: "Only events after this cursor, the `next` of an earlier response",
    }),
  limit: queryInteger("Maximum number of events"),
});

/** A slice of an event stream. */
export const eventPage = {
  ...json(EventPage, "The events in the order they happened; empty if there are no newer events"),
  headers: {
    Link: { description: "The URL of the events that follow", schema: { type: "string" as const } },
  },
};

/** The part of a request's context that `eventPageOf` needs. */
interface PageContext {
  req: Pick<Context["req"], "url">;
  var: Pick<GuardVariables, "ctx" | "viewer">;
  header(name: string, value: string): void;
}

/** The slice of an event stream that a query selects; sets a `Link` header to the next slice. */
export async function eventPageOf(
  c: PageContext,
  { after = 0, limit }: z.infer<typeof EventCursor>,
  list: (cursor: Cursor) => Promise<EventSlice>,
): Promise<z.infer<typeof EventPage>> {
  const { ctx, viewer } = c.var;
  const { size } = readPage(ctx.config, { page: 1, limit });
  const { items, next } = await list({ after, size });
  const { pathname, searchParams } = new URL(c.req.url);
  searchParams.set("after", String(next));
  searchParams.sort();
  c.header("Link", `<${ctx.rootUrl}${pathname}?${searchParams}>; rel="next"`);
  c.header("Access-Control-Expose-Headers", "Link");
  return { events: items.map((event) => toEvent(event, viewer)), next };
}
