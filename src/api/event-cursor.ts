import { z } from "@hono/zod-openapi";
import type { Context } from "hono";

import type { EventSlice, Cursor } from "../domain/events/list-events.ts";
import { EventPage, toEvent } from "../shapes/events/event.ts";
import { json } from "./answers.ts";
import type { GuardVariables } from "./guards/guard.ts";
import { queryInteger, readPage } from "./paging.ts";

/** The query of a stream of events. A cursor that can't be read is refused: 0 would begin anew. */
export const EventCursor = z.object({
  after: z
    .string()
    .regex(/^\d{1,15}$/, "must be the `next` of an earlier answer")
    .transform(Number)
    .optional()
    .openapi({
      type: "integer",
      format: "int64",
      description: "Only events after this one: the `next` of an earlier answer",
    }),
  limit: queryInteger("Events at most"),
});

/** A part of a stream. */
export const eventPage = {
  ...json(EventPage, "In the order they happened; none yet where the caller has all"),
  headers: {
    Link: { description: "The events that follow", schema: { type: "string" as const } },
  },
};

/** What of a request's context a part of a stream is announced on. */
interface Answer {
  req: Pick<Context["req"], "url">;
  var: Pick<GuardVariables, "ctx" | "viewer">;
  header(name: string, value: string): void;
}

/** The part of a stream that a query asks for, with a link to what follows. */
export async function eventPageOf(
  c: Answer,
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
  return { events: items.map((entry) => toEvent(entry, viewer)), next };
}
