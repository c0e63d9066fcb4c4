import { asc, eq, getTableColumns } from "drizzle-orm";

import { events, type User } from "../../src/db/schema/index.ts";
import { db } from "./db.ts";

// The columns of queue consumers are left out: they are updated concurrently.
const {
  dispatchAt: _dispatchAt,
  dispatchAttempts: _dispatchAttempts,
  consequencesAt: _consequencesAt,
  consequenceAttempts: _consequenceAttempts,
  consequenceProgress: _consequenceProgress,
  ...columns
} = getTableColumns(events);

/** The events that a user has caused so far, oldest first. A refused request records none. */
export const eventsBy = (actor: Pick<User, "id">) =>
  db.select(columns).from(events).where(eq(events.actorId, actor.id)).orderBy(asc(events.id));

/** The events of a repository so far, oldest first. */
export const eventsOf = (repo: { id: number }) =>
  db.select(columns).from(events).where(eq(events.repoId, repo.id)).orderBy(asc(events.id));

/** The types of `list`, in order. */
export const typesOf = (list: { type: string }[]): string[] => list.map(({ type }) => type);

/** The events of an owner so far, oldest first. `make` records none. */
export const eventsIn = (account: { id: number }) =>
  db.select(columns).from(events).where(eq(events.ownerId, account.id)).orderBy(asc(events.id));
