import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  events,
  releases,
  repositories,
  webhookEvents,
} from "../../../../../src/db/schema/index.ts";
import { dispatchEvents } from "../../../../../src/domain/exchange/webhooks/dispatch/dispatch-events.ts";
import { parseHookEvents } from "../../../../../src/domain/exchange/webhooks/hooks/hook-events.ts";
import { recordEvent } from "../../../../support/activities.ts";
import { call } from "../../../../support/call.ts";
import { db } from "../../../../support/db.ts";
import { makeHook } from "../../../../support/hooks.ts";
import { make, type TestRepo } from "../../../../support/make.ts";
import { makeAsset, makeRelease } from "../../../../support/releases.ts";
import { systemCtx } from "../../../../support/system.ts";

/** Later than any event that the queue dispatches by itself. */
const LATE = Date.UTC(2100, 0, 1);

async function dispatch(): Promise<void> {
  const queue = { sendBatch: () => Promise.resolve() } as unknown as Env["DELIVERY_JOBS"];
  await dispatchEvents(systemCtx({ DELIVERY_JOBS: queue }, LATE));
}

async function makeScene() {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const release = await makeRelease(repo, { title: "One", body: "text" });
  await makeAsset(release);
  await makeHook({
    level: "repository",
    approverId: owner.id,
    repoId: repo.id,
    events: parseHookEvents(["release"]),
  });
  const change = (type: string, fields: object = {}) => {
    const about = { releaseId: release.id, tagName: release.tagName };
    return recordEvent(repo, owner, type, { ...about, ...fields }, LATE, LATE);
  };
  return { owner, repo, release, change };
}

const sentOf = async ({ id }: TestRepo) =>
  (
    await db
      .select()
      .from(webhookEvents)
      .where(eq(webhookEvents.repoId, id))
      .orderBy(webhookEvents.id)
  ).map(({ event, payload }) => Object.assign<Record<string, unknown>, object>({ event }, payload));

describe("webhooks of releases", () => {
  it("receive what is published and edited, with its files and no addresses", async () => {
    const { owner, repo, release, change } = await makeScene();
    await change("release.published");
    await change("release.updated", { part: "fields" });
    await change("release.updated", { part: "assets" });
    await dispatch();
    const sent = await sentOf(repo);
    expect(sent).toMatchObject([
      {
        event: "release",
        action: "published",
        release: {
          id: release.id,
          tag_name: release.tagName,
          name: "One",
          body: "text",
          draft: false,
          assets: [{ name: "a.txt" }],
          author: { login: owner.name },
        },
        repository: { id: repo.id },
        sender: { login: owner.name },
      },
      { event: "release", action: "updated" },
    ]);
    expect(Object.keys(sent[0] ?? {}).toSorted()).toEqual(
      ["action", "event", "release", "repository", "sender"].toSorted(),
    );
    expect(JSON.stringify(sent)).not.toContain(owner.email);
  });

  it("receive what is deleted, and the event loses its payload", async () => {
    const { owner, repo, release } = await makeScene();
    const path = `/repos/${repo.owner}/${repo.name}/releases/${release.id}`;
    expect(await call("DELETE", path, { as: owner })).toMatchObject({ status: 204 });
    await dispatch();
    expect(await sentOf(repo)).toMatchObject([
      { event: "release", action: "deleted", release: { id: release.id, body: "text" } },
    ]);
    const [recorded] = await db.select().from(events).where(eq(events.repoId, repo.id));
    expect(recorded?.payload).toEqual({ releaseId: release.id, tagName: release.tagName });
  });

  it.each(["withdrawn", "deleted", "off"])(
    "receive nothing of a release that is %s by then",
    async (why) => {
      const { repo, release, change } = await makeScene();
      await change("release.published");
      const isRelease = eq(releases.id, release.id);
      if (why === "withdrawn") await db.update(releases).set({ isDraft: true }).where(isRelease);
      else if (why === "deleted") await db.delete(releases).where(isRelease);
      else {
        await db
          .update(repositories)
          .set({ hasReleases: false })
          .where(eq(repositories.id, repo.id));
      }
      await dispatch();
      expect(await sentOf(repo)).toEqual([]);
    },
  );
});
