import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { repositories } from "../../../src/db/schema/index.ts";
import { db } from "../../support/db.ts";
import { call } from "../../support/call.ts";
import { recordEvent } from "../../support/activities.ts";
import { make } from "../../support/make.ts";

const typesIn = (body: { events: { type: string }[] }) => body.events.map(({ type }) => type);

describe("GET /user/events", () => {
  it("lists events of the account and of its repositories, including those by other users", async () => {
    const user = await make.user();
    const other = await make.user();
    const repo = await make.repo(user);
    await recordEvent(repo, other, "star.created", {});
    const emails = { emails: [`${user.name}-2@example.com`] };
    expect((await call("POST", "/user/emails", { as: user, json: emails })).status).toBe(201);
    await recordEvent(await make.repo(other), user);

    const { body } = await call("GET", "/user/events", { as: user });
    expect(typesIn(body)).toEqual(["star.created", "email.added"]);
    expect(body.events[1]).toMatchObject({ repository: null, payload: {} });
    expect((await call("GET", "/user/events")).status).toBe(401);
  });

  it("lists the deletion of a repository, and none of its other events", async () => {
    const user = await make.user();
    const repo = await make.repo(user);
    await recordEvent(repo, user);
    await call("DELETE", `/repos/${user.name}/${repo.name}`, { as: user });
    const { body } = await call("GET", "/user/events", { as: user });
    expect(body.events).toMatchObject([
      { type: "repository.deleted", payload: { name: repo.name } },
    ]);
  });

  // SECURITY: the webhook payload of a deletion is stored with the event, only for hooks.
  it("does not return the stored payload of a deleted repository", async () => {
    const user = await make.user();
    const repo = await make.repo(user);
    const lastPayload = { objectName: "kept-1", repository: { networkName: "kept-2" } };
    await recordEvent(repo, user, "repository.deleted", { name: repo.name, lastPayload });
    await db.delete(repositories).where(eq(repositories.id, repo.id));
    const { body } = await call("GET", "/user/events", { as: user });
    expect(body.events[0].payload).toEqual({ name: repo.name });
    const feed = await call("GET", `/users/${user.name}/activities/feeds`, { as: user });
    expect(feed.body).toEqual([]);
  });

  // SECURITY: a bound token must not reach beyond its repositories.
  it("lists only their repositories' events for narrow tokens, and requires both scopes", async () => {
    const user = await make.user();
    const open = await make.repo(user);
    const hidden = await make.repo(user, { isPrivate: true });
    await recordEvent(open, user);
    await recordEvent(hidden, user);
    await call("POST", "/user/emails", {
      as: user,
      json: { emails: [`${user.name}-3@example.com`] },
    });
    for (const token of [
      await make.token(user, { scopes: "public-only,all" }),
      await make.token(user, { repos: [open] }),
    ]) {
      const { body } = await call("GET", "/user/events", { token });
      expect(body.events).toMatchObject([{ repository: { id: open.id } }]);
    }
    const token = await make.token(user, { scopes: "read:user" });
    expect((await call("GET", "/user/events", { token })).status).toBe(403);
  });

  // Events that the caller may not see are skipped, and the cursor advances past them.
  it("advances its cursor past hidden events", async () => {
    const user = await make.user();
    const repo = await make.repo(user, { isPrivate: true });
    const last = await recordEvent(repo, user);
    const token = await make.token(user, { scopes: "public-only,all" });
    const { body } = await call("GET", "/user/events", { token });
    expect(body).toEqual({ events: [], next: last });
  });
});
