import {
  issueSubscriptions,
  notifications,
  watches,
  type Issue,
  type Notification,
  type Repository,
  type User,
} from "../../src/db/schema/index.ts";
import { only } from "../../src/lib/only.ts";
import { db } from "./db.ts";

/** Stores an unread notification of a user about an issue, past the API. */
export async function makeNotification(
  { id: userId }: Pick<User, "id">,
  { id: issueId, repoId, isPull }: Issue,
  fields: Partial<Notification> = {},
): Promise<Notification> {
  const subject = isPull ? ("pull" as const) : ("issue" as const);
  const row = { userId, repoId, issueId, subject, status: "unread" as const };
  const values = { ...row, createdAt: 1000, updatedAt: 1000, ...fields };
  return only(await db.insert(notifications).values(values).returning());
}

export async function makeWatch(
  { id: userId }: Pick<User, "id">,
  { id: repoId, visibility }: Repository,
): Promise<void> {
  await db.insert(watches).values({ userId, repoId, visibility, createdAt: 1000 });
}

export async function makeSubscription(
  { id: userId }: Pick<User, "id">,
  { id: issueId }: Issue,
  isSubscribed = true,
): Promise<void> {
  await db
    .insert(issueSubscriptions)
    .values({ issueId, userId, isSubscribed, updatedAt: 1000 })
    .onConflictDoNothing();
}
