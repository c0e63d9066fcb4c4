import { asc, eq, getTableColumns } from "drizzle-orm";

import { events, type User } from "../../src/db/schema/index.ts";
import { db } from "./db.ts";

// How far hooks were told of it is nothing of the event's own: a queue does it meanwhile.
const {
  dispatchAt: _tellAt,
  dispatchAttempts: _tellAttempts,
  ...columns
} = getTableColumns(events);

/** What a user has set off so far, oldest first. A refusal adds nothing to it. */
export const eventsBy = (actor: Pick<User, "id">) =>
  db.select(columns).from(events).where(eq(events.actorId, actor.id)).orderBy(asc(events.id));

/** What was told of a repository so far, oldest first. */
export const eventsOf = (repo: { id: number }) =>
  db.select(columns).from(events).where(eq(events.repoId, repo.id)).orderBy(asc(events.id));

/** The kinds of some events, in their order. */
export const typesOf = (list: { type: string }[]): string[] => list.map(({ type }) => type);

/** What was recorded of an account so far, oldest first: nothing, for one that `make` inserted. */
export const eventsIn = (account: { id: number }) =>
  db.select(columns).from(events).where(eq(events.ownerId, account.id)).orderBy(asc(events.id));
