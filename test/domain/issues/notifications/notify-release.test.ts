import { asc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  blocks,
  notifications,
  releases,
  repositories,
  type Release,
  type User,
  users,
} from "../../../../src/db/schema/index.ts";
import { notifyRelease } from "../../../../src/domain/issues/notifications/notify-release.ts";
import type { RecordedEvent } from "../../../../src/events/consequence.ts";
import { WorkBudget } from "../../../../src/lib/work-budget.ts";
import { call } from "../../../support/call.ts";
import { db } from "../../../support/db.ts";
import { make } from "../../../support/make.ts";
import { makeWatch } from "../../../support/notifications.ts";
import { makeRelease } from "../../../support/releases.ts";
import { systemCtx } from "../../../support/system.ts";

const NOW = 1_700_000_000_000;
let lastEventId = 1000;

const published = (release: Release, by: Pick<User, "id">): RecordedEvent => {
  const { id: releaseId, repoId, tagName } = release;
  lastEventId += 1;
  const event = { type: "release.published", ownerId: 1, repoId, releaseId, tagName } as const;
  return { id: lastEventId, actorId: by.id, createdAt: NOW, event };
};

async function recordEvent(event: RecordedEvent, now = NOW): Promise<void> {
  const budget = new WorkBudget(now, { ms: 60_000, statements: 1000 });
  let state: unknown;
  do state = await notifyRelease.handle(systemCtx({}, now), event, budget, state);
  while (state !== undefined);
}

const toldOf = ({ id }: Release) =>
  db
    .select({ userId: notifications.userId, status: notifications.status })
    .from(notifications)
    .where(eq(notifications.releaseId, id))
    .orderBy(asc(notifications.userId));

async function makeScene() {
  const [owner, doer, watcher] = [await make.user(), await make.user(), await make.user()];
  const repo = await make.repo(owner);
  for (const user of [doer, watcher]) await makeWatch(user, repo);
  return { owner, doer, watcher, repo, release: await makeRelease(repo, { title: "One" }) };
}

describe("a published release", () => {
  it("is told to watchers, once, and not to its publisher", async () => {
    const { doer, watcher, repo, release } = await makeScene();
    const event = published(release, doer);
    await recordEvent(event);
    expect(await toldOf(release)).toEqual([{ userId: watcher.id, status: "unread" }]);
    const { body } = await call("GET", "/notifications?subject-type=release", { as: watcher });
    expect(body).toMatchObject([
      {
        repository: { id: repo.id },
        unread: true,
        subject: {
          type: "Release",
          title: "One",
          url: `https://forge.example/api/v1/repos/${repo.owner}/${repo.name}/releases/${release.id}`,
          html_url: `https://forge.example/${repo.owner}/${repo.name}/releases/tag/${release.tagName}`,
        },
      },
    ]);
    expect((await call("GET", "/notifications?subject-type=issue", { as: watcher })).body).toEqual(
      [],
    );
    await db
      .update(notifications)
      .set({ status: "read" })
      .where(eq(notifications.releaseId, release.id));
    await recordEvent(event);
    expect(await toldOf(release)).toEqual([{ userId: watcher.id, status: "read" }]);
    // Published again.
    await recordEvent(published(release, doer));
    expect(await toldOf(release)).toEqual([{ userId: watcher.id, status: "unread" }]);
  });

  // SECURITY: who lost access, blocks the publisher or may not sign in is told nothing.
  it.each(["private", "off", "blocked", "prohibited", "draft"])(
    "is told to nobody: %s",
    async (why) => {
      const { doer, watcher, repo, release } = await makeScene();
      const isRepo = eq(repositories.id, repo.id);
      if (why === "private") {
        await db.update(repositories).set({ isPrivate: true, visibility: "private" }).where(isRepo);
      } else if (why === "off") {
        await db.update(repositories).set({ hasReleases: false }).where(isRepo);
      } else if (why === "blocked") {
        await db
          .insert(blocks)
          .values({ blockerId: watcher.id, blockedId: doer.id, createdAt: 1000 });
      } else if (why === "prohibited") {
        await db.update(users).set({ isLoginProhibited: true }).where(eq(users.id, watcher.id));
      } else {
        await db.update(releases).set({ isDraft: true }).where(eq(releases.id, release.id));
      }
      await recordEvent(published(release, doer));
      expect(await toldOf(release)).toEqual([]);
    },
  );

  it("takes its notifications along when it is deleted", async () => {
    const { owner, doer, repo, release } = await makeScene();
    await recordEvent(published(release, doer));
    const path = `/repos/${repo.owner}/${repo.name}/releases/${release.id}`;
    expect(await call("DELETE", path, { as: owner })).toMatchObject({ status: 204 });
    expect(await toldOf(release)).toEqual([]);
  });

  // Drafts record no event.
  it("takes its notifications along when it is a draft again by then", async () => {
    const { owner, doer, watcher, repo, release } = await makeScene();
    const other = await makeRelease(repo, { title: "Two" });
    for (const each of [release, other]) await recordEvent(published(each, doer));
    await db.update(releases).set({ isDraft: true }).where(eq(releases.id, release.id));
    const path = `/repos/${repo.owner}/${repo.name}/releases/${release.id}`;
    expect(await call("DELETE", path, { as: doer })).toMatchObject({ status: 403 });
    expect(await toldOf(release)).toHaveLength(1);
    expect(await call("DELETE", path, { as: owner })).toMatchObject({ status: 204 });
    expect(await toldOf(release)).toEqual([]);
    expect(await toldOf(other)).toEqual([{ userId: watcher.id, status: "unread" }]);
  });
});
