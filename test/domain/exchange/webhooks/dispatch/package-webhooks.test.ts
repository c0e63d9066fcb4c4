import { asc, eq, inArray } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  hookDeliveries,
  hooks,
  repositories,
  webhookEvents,
  type Hook,
} from "../../../../../src/db/schema/index.ts";
import { dispatchEvents } from "../../../../../src/domain/exchange/webhooks/dispatch/dispatch-events.ts";
import { parseHookEvents } from "../../../../../src/domain/exchange/webhooks/hooks/hook-events.ts";
import { call, visit } from "../../../../support/call.ts";
import { db } from "../../../../support/db.ts";
import { makeHook } from "../../../../support/hooks.ts";
import { freshName, make } from "../../../../support/make.ts";
import { makePackage } from "../../../../support/packages.ts";
import { systemCtx } from "../../../../support/system.ts";

/** Later than any event that the queue dispatches by itself. */
const LATE = Date.UTC(2100, 0, 1);

async function dispatch(): Promise<void> {
  const queue = { sendBatch: () => Promise.resolve() } as unknown as Env["DELIVERY_JOBS"];
  await dispatchEvents(systemCtx({ DELIVERY_JOBS: queue }, LATE));
}

/** What was sent to a hook, oldest first. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests match the shape that they expect
const sentTo = async ({ id }: Hook): Promise<any[]> =>
  (
    await db
      .select({ event: webhookEvents.event, payload: webhookEvents.payload })
      .from(hookDeliveries)
      .innerJoin(webhookEvents, eq(webhookEvents.id, hookDeliveries.webhookEventId))
      .where(eq(hookDeliveries.hookId, id))
      .orderBy(asc(hookDeliveries.id))
  ).map(({ event, payload }) => Object.assign<object, object>({ event }, payload));

async function makeScene() {
  const owner = await make.user();
  const org = await make.org([owner]);
  const repo = await make.repo(org);
  const subscribed = { events: parseHookEvents(["package"]), leasedUntil: Number.MAX_SAFE_INTEGER };
  const admin = await make.admin();
  const ofOwner = await makeHook({
    ...subscribed,
    level: "organization",
    approverId: owner.id,
    ownerId: org.id,
  });
  const ofRepo = await makeHook({
    ...subscribed,
    level: "repository",
    approverId: owner.id,
    repoId: repo.id,
  });
  const system = await makeHook({ ...subscribed, level: "system", approverId: admin.id });
  const end = () => db.delete(hooks).where(inArray(hooks.id, [ofOwner.id, ofRepo.id, system.id]));
  const put = (name: string, version: string) =>
    visit("PUT", `/api/packages/${org.name}/generic/${name}/${version}/a`, {
      as: owner,
      body: "x",
    });
  return { owner, org, repo, ofOwner, ofRepo, system, put, end };
}

describe("webhooks of packages", () => {
  it("notify the owner's hooks and the service's of publications and deletions", async () => {
    const { owner, org, ofOwner, ofRepo, system, put, end } = await makeScene();
    const name = freshName("Tool");
    expect((await put(name, "1.0")).status).toBe(201);
    // Another file of the same version is no other version.
    await visit("PUT", `/api/packages/${org.name}/generic/${name}/1.0/b`, { as: owner, body: "y" });
    const removed = await call("DELETE", `/packages/${org.name}/generic/${name}/1.0`, {
      as: owner,
    });
    expect(removed.status).toBe(204);
    await dispatch();
    const sent = await sentTo(ofOwner);
    expect(sent).toMatchObject([{ action: "created" }, { action: "deleted" }]);
    for (const each of sent) {
      expect(each).toMatchObject({
        event: "package",
        repository: null,
        organization: { name: org.name },
        sender: { login: owner.name },
        package: {
          owner: { login: org.name },
          creator: { login: owner.name },
          repository: null,
          type: "generic",
          name,
          version: "1.0",
        },
      });
      // The readers at the receiver are unknown.
      expect(JSON.stringify(each)).not.toContain(`${owner.name}@example.com`);
    }
    expect(sent[1].package).toEqual(sent[0].package);
    const ofThis = (await sentTo(system)).filter(({ package: pkg }) => pkg.name === name);
    expect(ofThis.map(({ action }) => action)).toEqual(["created", "deleted"]);
    expect(await sentTo(ofRepo)).toEqual([]);
    await end();
  });

  it("notify the hooks of the repository that the package is linked to", async () => {
    const { org, repo, ofOwner, ofRepo, put, end } = await makeScene();
    const { name } = await makePackage(org, { repoId: repo.id });
    expect((await put(name, "2.0")).status).toBe(201);
    await dispatch();
    for (const hook of [ofRepo, ofOwner]) {
      expect(await sentTo(hook)).toMatchObject([
        {
          action: "created",
          repository: { id: repo.id },
          package: { repository: { id: repo.id } },
        },
      ]);
    }
    await db.update(repositories).set({ hasPackages: false }).where(eq(repositories.id, repo.id));
    expect((await put(name, "3.0")).status).toBe(201);
    await dispatch();
    expect(await sentTo(ofRepo)).toHaveLength(1);
    await end();
  });

  it("describe a version whose publisher and repository are gone", async () => {
    const { owner, org, repo, ofOwner, end } = await makeScene();
    const { name } = await makePackage(org, { repoId: repo.id, creatorId: null });
    const path = `/packages/${org.name}/generic/${name}/1.0`;
    expect((await call("DELETE", path, { as: owner })).status).toBe(204);
    await call("DELETE", `/repos/${org.name}/${repo.name}`, { as: owner });
    await dispatch();
    expect(await sentTo(ofOwner)).toMatchObject([
      { action: "deleted", repository: null, package: { name, creator: { login: "Ghost" } } },
    ]);
    await end();
  });
});
