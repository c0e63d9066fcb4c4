import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { repositories } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsOf } from "../../support/events.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";

const create = (as: TestUser | undefined, username: string, json: object) =>
  call("POST", `/admin/users/${username}/repos`, { ...(as && { as }), json });
const named = (ownerId: number) =>
  db.select().from(repositories).where(eq(repositories.ownerId, ownerId));

describe("POST /admin/users/{username}/repos", () => {
  it("creates a repository that belongs to the user, whatever their maximum is", async () => {
    const [admin, user] = [await make.admin(), await make.user({ repoCountMax: 0 })];
    const name = freshName("repo");
    const { status, body } = await create(admin, user.name, { name, auto_init: true });

    expect([status, body.full_name, body.empty]).toEqual([201, `${user.name}/${name}`, false]);
    const own = await call("GET", `/repos/${user.name}/${name}`, { as: user });
    expect(own.body.permissions).toEqual({ admin: true, push: true, pull: true });
    expect(await eventsOf(body)).toMatchObject([
      { type: "repository.created", ownerId: user.id, actorId: admin.id },
      { type: "repository.pushed", actorId: admin.id },
    ]);
    const full = await call("POST", "/user/repos", { as: user, json: { name: freshName("own") } });
    expect(full.status).toBe(403);
  });

  it("is refused to everybody else, for other accounts, and for invalid names", async () => {
    const [admin, user] = [await make.admin(), await make.user()];
    const org = await make.org([admin]);
    const json = { name: freshName("repo") };
    expect((await create(undefined, user.name, json)).status).toBe(401);
    expect((await create(user, user.name, json)).status).toBe(403);
    expect((await create(user, freshName("none"), json)).status).toBe(403);
    expect((await create(admin, freshName("none"), json)).status).toBe(404);
    expect((await create(admin, org.name, json)).status).toBe(404);
    expect((await create(admin, user.name, {})).status).toBe(422);
    expect((await create(admin, user.name, { name: "a b" })).status).toBe(422);
    const readme = { ...json, auto_init: true, readme: "None" };
    expect((await create(admin, user.name, readme)).status).toBe(400);
    expect([await named(user.id), await named(org.id)]).toEqual([[], []]);

    expect((await create(admin, user.name, json)).status).toBe(201);
    expect((await create(admin, user.name, json)).status).toBe(409);
    expect(await named(user.id)).toHaveLength(1);
  });
});
