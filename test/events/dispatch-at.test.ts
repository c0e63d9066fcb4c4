import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { events, hooks, webhookEvents } from "../../src/db/schema/index.ts";
import { dispatchEvents } from "../../src/domain/exchange/webhooks/dispatch/dispatch-events.ts";
import { call } from "../support/call.ts";
import { db } from "../support/db.ts";
import { makeHook } from "../support/hooks.ts";
import { make } from "../support/make.ts";
import { withoutQueueConsumer } from "../support/queue-consumer.ts";
import { systemCtx } from "../support/system.ts";

const FAR = Date.now() + 3_600_000;

describe("an event that is recorded", () => {
  it("waits for its dispatch only if a hook may receive it", async () => {
    await withoutQueueConsumer(async () => {
      const owner = await make.user();
      const repo = await make.repo(owner);
      const own = { level: "repository", repoId: repo.id, approverId: owner.id } as const;
      const path = `/repos/${repo.owner}/${repo.name}/issues`;
      const open = async (): Promise<boolean[]> => {
        await call("POST", path, { as: owner, json: { title: "An issue" } });
        const rows = await db.select().from(events).where(eq(events.repoId, repo.id));
        return rows.map(({ dispatchAt }) => dispatchAt !== null);
      };
      expect(await open()).toEqual([false]);
      await makeHook({ ...own, isActive: false });
      await makeHook({ ...own, pausedAt: 1 });
      expect(await open()).toEqual([false, false]);
      await makeHook({ ...own, events: ["issues"], leasedUntil: FAR });
      expect(await open()).toEqual([false, false, true]);
    });
  });

  it("is received by a hook that the same change copies to a new repository", async () => {
    const owner = await make.user();
    const hook = { level: "default", approverId: 0, leasedUntil: FAR } as const;
    const byDefault = await makeHook({ ...hook, events: ["repository"] });
    await withoutQueueConsumer(async () => {
      const { body } = await call("POST", "/user/repos", { as: owner, json: { name: "new" } });
      await dispatchEvents(systemCtx({}, Date.now() + 1000));
      const received = await db
        .select()
        .from(webhookEvents)
        .where(eq(webhookEvents.repoId, body.id as number));
      expect(received).toMatchObject([{ event: "repository", payload: { action: "created" } }]);
    });
    await db.delete(hooks).where(eq(hooks.id, byDefault.id));
  });
});
