import { asc, eq } from "drizzle-orm";
import { describe, expect, inject, it } from "vitest";

import { events, hooks, webhookEvents } from "../../src/db/schema/index.ts";
import { dispatchEvents } from "../../src/domain/exchange/webhooks/dispatch/dispatch-events.ts";
import { recordEvent } from "../support/activities.ts";
import { db } from "../support/db.ts";
import { clockAt, deliver, deliveryOf, makeDelivery, openReceiver } from "../support/deliveries.ts";
import { makeHook } from "../support/hooks.ts";
import { doorsWith, serviceWith } from "../support/service.ts";
import { freshName, make } from "../support/make.ts";
import { byId, isRead, sampled } from "../support/samples/gather.ts";
import { requestIn } from "../support/samples/request.ts";
import { World } from "../support/samples/world.ts";
import { systemCtx } from "../support/system.ts";
import { publish, registryPath } from "../registries/npm/documents.ts";

/**
 * The settings of `npm start` without ROOT_URL. Requests of the tests are sent to `forge.example`.
 */
const LISTENING = {
  LISTEN_URLS: "http://127.0.0.1:8787,http://10.0.0.7:8787,http://machine:8787",
  ALLOWED_HOST_LIST: "external, private, loopback, 0.0.0.0/8, ::/128, *.example, machine",
};
const OWN = "http://127.0.0.1:8787";
const FORGED = "forge.example";

const call = serviceWith(LISTENING);
const visit = doorsWith(LISTENING);

const eventsOf = (owner: { id: number }) =>
  db.select().from(events).where(eq(events.ownerId, owner.id)).orderBy(asc(events.id));

describe("a forged Host header", () => {
  it("is answered to its sender", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const { body } = await call("GET", `/repos/${owner.name}/${repo.name}`);
    expect(body.html_url).toBe(`https://${FORGED}/${owner.name}/${repo.name}`);
  });

  it("is neither in events nor in the commits that they name", async () => {
    const owner = await make.user({ isEmailHidden: true });
    const name = freshName("repo");
    const created = await call("POST", "/user/repos", {
      as: owner,
      json: { name, auto_init: true },
    });
    expect(created.status).toBe(201);
    const path = `/repos/${owner.name}/${name}`;
    const commits = await call("GET", `${path}/commits`, { as: owner });
    expect(commits.body).toHaveLength(1);
    expect(commits.body[0].commit.author.email).toBe(`${owner.lowerName}@noreply.127.0.0.1`);
    // The address leads back to its account, also for readers who forge another host.
    expect(commits.body[0].author.login).toBe(owner.name);
    expect((await call("DELETE", path, { as: owner })).status).toBe(204);

    const recorded = await eventsOf(owner);
    expect(recorded.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["repository.created", "repository.pushed", "repository.deleted"]),
    );
    expect(JSON.stringify(recorded)).not.toContain(FORGED);
  });

  it("is not in payloads, even of events that were recorded with it", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const own = { level: "repository" as const, approverId: owner.id, repoId: repo.id };
    await makeHook({ ...own, events: ["repository"] });
    const late = Date.UTC(2101, 0, 1);
    const id = await recordEvent(
      repo,
      owner,
      "repository.created",
      { name: repo.name },
      late,
      late,
    );
    await db
      .update(events)
      .set({ rootUrl: `https://${FORGED}` })
      .where(eq(events.id, id));

    await dispatchEvents(systemCtx({}, late, LISTENING));
    const [row] = await db.select().from(webhookEvents).where(eq(webhookEvents.eventId, id));
    expect(row?.payload).toMatchObject({
      repository: { html_url: `${OWN}/${owner.name}/${repo.name}` },
    });
    expect(JSON.stringify(row)).not.toContain(FORGED);
  });

  it("is not in the id of a feed's entry", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    await recordEvent(repo, owner);
    const { body } = await visit("GET", `/${owner.name}/${repo.name}.atom`);
    expect(body).toContain("<id>tag:127.0.0.1,2025:activity:");
  });
});

// A response may be kept for other callers, who would follow its links to the forged host.
describe("a response to a forged Host header", () => {
  const world = new World();
  const TRUE = { ROOT_URL: "https://true.example" };
  const asOthers = { api: serviceWith(TRUE), any: doorsWith(TRUE) };
  const reads = sampled.filter(
    (operation) => isRead(operation) && operation.sample.refusal === undefined,
  );

  it.each(byId(reads))("is kept for nobody else: %s", async (_, operation) => {
    const { method, path, caller: as, content } = await requestIn(world, operation);
    const forged = await call(method, path, { as, ...content });
    const shown = await asOthers.api(method, path, { as, ...content });
    expect([forged.status, shown.status]).toEqual([shown.status, expect.any(Number)]);
    const { body, headers } = shown;
    expect(JSON.stringify([body, ...headers])).not.toContain(`//${FORGED}`);
  });

  it("is kept for nobody else in the documents of packages", async () => {
    const owner = await make.user();
    await publish(owner, "kept", "1.0.0");
    const at = (format: string) => `/api/packages/${owner.name}/${format}`;
    for (const path of [
      registryPath(owner, "kept"),
      registryPath(owner, "-/v1/search?text=kept"),
      at("composer/packages.json"),
      at("nuget/index.json"),
      at("cargo/config.json"),
      at("pypi/simple/"),
      at("helm/index.yaml"),
      "/v2/",
    ]) {
      const forged = await visit("GET", path);
      expect(JSON.stringify([forged.body, ...forged.headers]), path).not.toContain("true.example");
      const shown = await asOthers.any("GET", path);
      expect(shown.status, path).toBe(forged.status);
      expect(JSON.stringify([shown.body, ...shown.headers]), path).not.toContain(`//${FORGED}`);
    }
    const { body } = await asOthers.any("GET", registryPath(owner, "kept"));
    expect(JSON.stringify(body)).toContain("https://true.example/api/packages/");
  });
});

/** Every way to write an address of the service. */
const OWN_URLS = [
  "http://127.0.0.1:8787/",
  "http://127.1:8787/",
  "http://localhost:8787/api/v1/user/repos",
  "http://forge.localhost:8787/",
  "http://0.0.0.0:8787/",
  "http://0:8787/",
  "http://[::]:8787/",
  "http://[::1]:8787/",
  "http://[::ffff:127.0.0.1]:8787/",
  "http://10.0.0.7:8787/",
  "http://machine:8787/",
  "http://MACHINE.:8787/",
];

describe("a webhook that leads back to the service", () => {
  it.each([...OWN_URLS, `https://${FORGED}/`, `http://${FORGED}:8787/`])(
    "is refused: %s",
    async (url) => {
      const owner = await make.user();
      const repo = await make.repo(owner);
      const json = { type: "gitea", config: { url, content_type: "json" } };
      const path = `/repos/${owner.name}/${repo.name}/hooks`;
      expect(await call("POST", path, { as: owner, json })).toMatchObject({
        status: 422,
        body: { message: "Invalid url: this is the service's own address" },
      });
      expect(await db.select().from(hooks).where(eq(hooks.repoId, repo.id))).toEqual([]);

      const hook = await makeHook({ level: "repository", approverId: owner.id, repoId: repo.id });
      const edited = await call("PATCH", `${path}/${hook.id}`, {
        as: owner,
        json: { config: { url, content_type: "json" } },
      });
      expect(edited.status).toBe(422);
      const [after] = await db.select().from(hooks).where(eq(hooks.id, hook.id));
      expect(after?.url).toBe(hook.url);
    },
  );

  // Stored by an earlier version, or before the service was started with other addresses.
  it.each(OWN_URLS)("is not delivered to: %s", async (url) => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const own = { level: "repository" as const, approverId: owner.id, repoId: repo.id };
    const hook = await makeHook({ ...own, url });
    await makeDelivery(hook);
    await deliver([hook.id], clockAt(Date.now()), LISTENING);
    expect(await deliveryOf(hook)).toMatchObject({
      attemptCount: 1,
      responseStatus: null,
      failure: expect.stringContaining("this is the service's own address"),
    });
  });

  it("by a redirect is not followed", async () => {
    const [here, there] = inject("receivers");
    const target = openReceiver("200", there);
    const owner = await make.user();
    const repo = await make.repo(owner);
    const own = { level: "repository" as const, approverId: owner.id, repoId: repo.id };
    const url = `${here}/redirect?status=307&to=${encodeURIComponent(target.url)}`;
    const hook = await makeHook({ ...own, url });
    await makeDelivery(hook);
    await deliver([hook.id], clockAt(Date.now()), { ...LISTENING, LISTEN_URLS: there ?? "" });
    expect((await deliveryOf(hook)).failure).toContain("this is the service's own address");
    expect(await target.received()).toEqual([]);
  });
});
