import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { repositories } from "../../../src/db/schema/index.ts";
import { db } from "../../support/db.ts";
import { call } from "../../support/call.ts";
import { tell } from "../../support/activities.ts";
import { make } from "../../support/make.ts";

const typesIn = (body: { events: { type: string }[] }) => body.events.map(({ type }) => type);

describe("GET /user/events", () => {
  it("tells of the account and of its repositories, also what others did", async () => {
    const user = await make.user();
    const other = await make.user();
    const repo = await make.repo(user);
    await tell(repo, other, "star.created", {});
    const emails = { emails: [`${user.name}-2@example.com`] };
    expect((await call("POST", "/user/emails", { as: user, json: emails })).status).toBe(201);
    await tell(await make.repo(other), user);

    const { body } = await call("GET", "/user/events", { as: user });
    expect(typesIn(body)).toEqual(["star.created", "email.added"]);
    expect(body.events[1]).toMatchObject({ repository: null, payload: {} });
    expect((await call("GET", "/user/events")).status).toBe(401);
  });

  it("tells that a repository is gone, and nothing else of it", async () => {
    const user = await make.user();
    const repo = await make.repo(user);
    await tell(repo, user);
    await call("DELETE", `/repos/${user.name}/${repo.name}`, { as: user });
    const { body } = await call("GET", "/user/events", { as: user });
    expect(body.events).toMatchObject([
      { type: "repository.deleted", payload: { name: repo.name } },
    ]);
  });

  // SECURITY: what hooks are still to be told is kept with the event, for them alone.
  it("shows nothing of what is kept of a repository that is gone", async () => {
    const user = await make.user();
    const repo = await make.repo(user);
    const lastPayload = { objectName: "kept-1", repository: { networkName: "kept-2" } };
    await tell(repo, user, "repository.deleted", { name: repo.name, lastPayload });
    await db.delete(repositories).where(eq(repositories.id, repo.id));
    const { body } = await call("GET", "/user/events", { as: user });
    expect(body.events[0].payload).toEqual({ name: repo.name });
    const feed = await call("GET", `/users/${user.name}/activities/feeds`, { as: user });
    expect(feed.body).toEqual([]);
  });

  // SECURITY: a narrow token is promised to reach no further than what it names.
  it("tells narrow tokens of their repositories alone, and needs both scopes", async () => {
    const user = await make.user();
    const open = await make.repo(user);
    const hidden = await make.repo(user, { isPrivate: true });
    await tell(open, user);
    await tell(hidden, user);
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

  // What the caller may not see is passed over, and a consumer gets beyond it.
  it("moves its cursor past what is not told", async () => {
    const user = await make.user();
    const repo = await make.repo(user, { isPrivate: true });
    const last = await tell(repo, user);
    const token = await make.token(user, { scopes: "public-only,all" });
    const { body } = await call("GET", "/user/events", { token });
    expect(body).toEqual({ events: [], next: last });
  });
});
