import { z } from "@hono/zod-openapi";
import type { Context } from "hono";

import type { Cursor, EventSlice, Positions } from "../domain/events/merge-parts.ts";
import { invalidField } from "../lib/failure.ts";
import { AccountEventPage, EventPage, toEvent } from "../shapes/events/event.ts";
import { json } from "./answers.ts";
import type { GuardVariables } from "./guards/guard.ts";
import { queryInteger, readPage } from "./paging.ts";

const invalidCursor = "must be the `next` of an earlier answer";
const DESCRIPTION = "Only events after this cursor, the `next` of an earlier response";
const limit = queryInteger("Maximum number of events");

/** The query of a repository's stream. An invalid cursor is refused: reading it as 0 would restart the stream. */
export const EventCursor = z.object({
  after: z
    .string()
    .regex(/^\d{1,15}$/, invalidCursor)
    .transform(Number)
    .optional()
    .openapi({ type: "integer", format: "int64", description: DESCRIPTION }),
  limit,
});

/** Longer than the positions of all shards that there may be. */
const CURSOR_LENGTH_MAX = 65_536;

/** The query of an account's stream, whose cursor has a position for each database: of the first, then of shards by number. */
export const AccountEventCursor = z.object({
  after: z
    .string()
    .max(CURSOR_LENGTH_MAX)
    .regex(/^\d{1,15}(?:_\d{1,5}-\d{1,15})*$/, invalidCursor)
    .optional()
    .openapi({ description: DESCRIPTION }),
  limit,
});

const headers = {
  Link: { description: "The URL of the events that follow", schema: { type: "string" as const } },
};
const DESCRIBED = "The events in the order they happened; empty if there are no newer events";

/** A slice of a repository's stream. */
export const eventPage = { ...json(EventPage, DESCRIBED), headers };

/** A slice of an account's stream. */
export const accountEventPage = { ...json(AccountEventPage, DESCRIBED), headers };

/** The part of a request's context that `eventPageOf` needs. */
interface PageContext {
  req: Pick<Context["req"], "url">;
  var: Pick<GuardVariables, "ctx" | "viewer">;
  header(name: string, value: string): void;
}

/** The slice of a repository's stream that a query selects; sets a `Link` header to the next slice. */
export function eventPageOf(
  c: PageContext,
  { after = 0, limit: wanted }: z.infer<typeof EventCursor>,
  list: (cursor: Cursor) => Promise<EventSlice>,
): Promise<z.infer<typeof EventPage>> {
  const { shard } = c.var.ctx.db;
  const format = (positions: Positions): number => positions.get(shard) ?? 0;
  return pageAfter(c, { after: new Map([[shard, after]]), limit: wanted }, list, format);
}

/** The same of an account's stream. */
export function accountEventPageOf(
  c: PageContext,
  { after = "0", limit: wanted }: z.infer<typeof AccountEventCursor>,
  list: (cursor: Cursor) => Promise<EventSlice>,
): Promise<z.infer<typeof AccountEventPage>> {
  const shards = c.var.ctx.openShards();
  const positions = parsePositions(after, shards);
  const format = shards.size === 0 ? firstOf : formatPositions;
  return pageAfter<number | string>(c, { after: positions, limit: wanted }, list, format);
}

const firstOf = (positions: Positions): number => positions.get(0) ?? 0;

/** A database without a position is read from its beginning. */
function formatPositions(positions: Positions): string {
  const others = [...positions].filter(([shard, id]) => shard !== 0 && id > 0);
  const parts = others.map(([shard, id]) => `_${shard}-${id}`);
  return `${firstOf(positions)}${parts.join("")}`;
}

/** @throws Failure `invalid` for a position of a database that is not there, or a second one of the same. */
function parsePositions(text: string, shards: ReadonlyMap<number, unknown>): Positions {
  const [first = "0", ...others] = text.split("_");
  const positions = new Map([[0, Number(first)]]);
  for (const other of others) {
    const [shard = 0, id = 0] = other.split("-").map(Number);
    if (!shards.has(shard) || positions.has(shard)) throw invalidField("after", invalidCursor);
    positions.set(shard, id);
  }
  return positions;
}

async function pageAfter<Next extends number | string>(
  c: PageContext,
  { after, limit: wanted }: { after: Positions; limit: number },
  list: (cursor: Cursor) => Promise<EventSlice>,
  format: (positions: Positions) => Next,
) {
  const { ctx, viewer } = c.var;
  const { size } = readPage(ctx.config, { page: 1, limit: wanted });
  const { items, next: positions } = await list({ after, size });
  const next = format(positions);
  const { pathname, searchParams } = new URL(c.req.url);
  searchParams.set("after", String(next));
  searchParams.sort();
  c.header("Link", `<${ctx.rootUrl}${pathname}?${searchParams}>; rel="next"`);
  c.header("Access-Control-Expose-Headers", "Link");
  return { events: items.map((event) => toEvent(event, viewer)), next };
}
