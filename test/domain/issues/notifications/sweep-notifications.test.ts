import { asc, eq } from "drizzle-orm";
import { expect, it } from "vitest";

import { notifications } from "../../../../src/db/schema/index.ts";
import { sweepNotifications } from "../../../../src/domain/issues/notifications/sweep-notifications.ts";
import { db } from "../../../support/db.ts";
import { makeIssue } from "../../../support/issues.ts";
import { make } from "../../../support/make.ts";
import { makeNotification } from "../../../support/notifications.ts";
import { systemCtx } from "../../../support/system.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** So early that the notifications of other tests are later. */
const NOW = 0;

async function makeScene() {
  const user = await make.user();
  const repo = await make.repo(await make.user());
  const add = async (status: "unread" | "read" | "pinned", days: number) =>
    makeNotification(user, await makeIssue(repo), { status, updatedAt: NOW - days * DAY_MS });
  const left = async () =>
    (
      await db
        .select({ id: notifications.id })
        .from(notifications)
        .where(eq(notifications.userId, user.id))
        .orderBy(asc(notifications.id))
    ).map(({ id }) => id);
  return { add, left };
}

it("deletes what was read longer ago than configured, in rounds, and nothing else", async () => {
  const { add, left } = await makeScene();
  const kept = [await add("read", 9), await add("unread", 500), await add("pinned", 500)];
  for (const days of [11, 12, 13, 14, 15]) await add("read", days);
  await sweepNotifications(systemCtx({}, NOW, { NOTIFICATION_DAYS: "10" }), 2);
  expect(await left()).toEqual(kept.map(({ id }) => id));
});

it("deletes nothing where notifications are kept", async () => {
  const { add, left } = await makeScene();
  const { id } = await add("read", 900);
  await sweepNotifications(systemCtx({}, NOW, { NOTIFICATION_DAYS: "0" }));
  expect(await left()).toEqual([id]);
  await sweepNotifications(systemCtx({}, NOW));
  expect(await left()).toEqual([]);
});
