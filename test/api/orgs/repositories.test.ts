import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { collaborations, repositories, watches } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsBy, eventsOf } from "../../support/events.ts";
import { freshName, make } from "../../support/make.ts";
import { logged } from "../../support/usage.ts";

const owned = (owner: { id: number }) =>
  db.select().from(repositories).where(eq(repositories.ownerId, owner.id));

describe.each(["/org", "/orgs"])("POST %s/{org}/repos", (base) => {
  it("lets an owner create a repository for the organization, in three round trips", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const name = freshName("repo");

    const { answer, line } = await logged(() =>
      call("POST", `${base}/${org.name.toUpperCase()}/repos`, {
        as: owner,
        json: { name, description: "Ours", private: true },
      }),
    );

    expect(answer).toMatchObject({
      status: 201,
      body: {
        full_name: `${org.name}/${name}`,
        owner: { id: org.id, login: org.name },
        description: "Ours",
        private: true,
        watchers_count: 1,
        permissions: { admin: true, push: true, pull: true },
      },
    });
    expect(line.d1Rounds).toBeLessThanOrEqual(3);
    expect(await eventsOf(answer.body)).toMatchObject([
      { type: "repository.created", actorId: owner.id, ownerId: org.id, payload: { name } },
    ]);
    // Owners need no separate role in it.
    expect(
      await db.select().from(collaborations).where(eq(collaborations.repoId, answer.body.id)),
    ).toEqual([]);
  });

  it("lets a member of a team with the right create a repository, and makes them its administrator", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const maker = await make.user();
    await make.member(org, await make.team(org, { access: 1, all: false, creates: true }), maker);

    const created = await call("POST", `${base}/${org.name}/repos`, {
      as: maker,
      json: { name: freshName("repo"), private: true },
    });

    expect(created).toMatchObject({
      status: 201,
      body: { permissions: { admin: true, push: true, pull: true } },
    });
    const path = `/repos/${org.name}/${created.body.name}`;
    expect((await call("GET", path, { as: maker })).body.permissions.admin).toBe(true);
    expect((await call("PATCH", path, { as: maker, json: { description: "x" } })).status).toBe(200);
    // An administrator of the repository is not an owner.
    expect((await call("DELETE", path, { as: maker })).status).toBe(403);
    expect(
      await db
        .select()
        .from(collaborations)
        .where(and(eq(collaborations.repoId, created.body.id), eq(collaborations.access, 3))),
    ).toMatchObject([{ userId: maker.id }]);
    expect(
      await db.select().from(watches).where(eq(watches.repoId, created.body.id)),
    ).toMatchObject([{ userId: maker.id }]);
  });

  // The right is limited to one organization: a team with it in another organization does not
  // count.
  it("refuses other callers who may see the organization, and writes nothing", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const elsewhere = await make.org([]);
    const member = await make.user();
    await make.member(org, await make.team(org, { access: 3 }), member);
    await make.member(elsewhere, await make.team(elsewhere, { creates: true }), member);
    const stranger = await make.user();

    for (const as of [member, stranger]) {
      const refused = await call("POST", `${base}/${org.name}/repos`, {
        as,
        json: { name: freshName("repo") },
      });
      expect(refused).toMatchObject({
        status: 403,
        body: { message: "Given user is not allowed to create repository in organization." },
      });
      expect(await eventsBy(as)).toEqual([]);
    }
    const json = { name: freshName("repo") };
    expect((await call("POST", `${base}/${org.name}/repos`, { json })).status).toBe(401);
    const narrow = ["write:repository", "read:organization"];
    // As in Gitea, the older of the two paths requires one scope more.
    for (const scopes of base === "/org" ? narrow.concat("write:organization") : narrow) {
      const token = await make.token(owner, { scopes });
      expect((await call("POST", `${base}/${org.name}/repos`, { token, json })).status).toBe(403);
    }
    expect(await owned(org)).toEqual([]);
  });

  it("lets a site administrator create a repository in any organization", async () => {
    const org = await make.org([await make.user()], { visibility: "private" });
    const as = await make.admin();
    const created = await call("POST", `${base}/${org.name}/repos`, {
      as,
      json: { name: freshName("repo") },
    });
    expect(created.status).toBe(201);
  });

  it("enforces the organization's limit and its existing names", async () => {
    const owner = await make.user();
    const org = await make.org([owner], { repoCountMax: 1 });
    const name = freshName("repo");
    const create = (json: object) => call("POST", `${base}/${org.name}/repos`, { as: owner, json });

    expect((await create({ name })).status).toBe(201);
    expect((await create({ name: freshName("repo") })).status).toBe(403);
    expect((await create({ name: "a b" })).status).toBe(422);
    expect((await create({ name: freshName("repo"), issue_labels: "None" })).status).toBe(422);
    expect(await owned(org)).toHaveLength(1);

    const roomy = await make.org([owner]);
    await make.repo(roomy, { name });
    const json = { name: name.toUpperCase() };
    expect((await call("POST", `${base}/${roomy.name}/repos`, { as: owner, json })).status).toBe(
      409,
    );
    expect(await owned(roomy)).toHaveLength(1);
  });
});

describe("an unknown organization", () => {
  // The contract lists no 404 on /org: an unknown organization is invalid input there.
  it("is 422 on /org and 404 on /orgs, and so is a hidden one", async () => {
    const hidden = await make.org([await make.user()], { visibility: "private" });
    const user = await make.user();
    const json = { name: freshName("repo") };
    const strip = (message: unknown) => JSON.stringify(message);

    const answers = [];
    for (const name of [freshName("none"), hidden.name, user.name]) {
      const old = await call("POST", `/org/${name}/repos`, { as: user, json });
      const usual = await call("POST", `/orgs/${name}/repos`, { as: user, json });
      expect(old.status).toBe(422);
      expect(usual).toMatchObject({ status: 404, body: "" });
      answers.push(strip(old.body));
    }

    expect(new Set(answers).size).toBe(1);
    expect(await owned(hidden)).toEqual([]);
    expect(await owned(user)).toEqual([]);
    expect(await eventsBy(user)).toEqual([]);
  });
});

describe("GET /orgs/{org}/repos", () => {
  it("lists the repositories that the caller may see, oldest first, with their total", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const [first, hidden, last] = [
      await make.repo(org),
      await make.repo(org, { isPrivate: true }),
      await make.repo(org),
    ];
    const listed = async (sending = {}) => {
      const { headers, body } = await call("GET", `/orgs/${org.name}/repos`, sending);
      const ids = body.map(({ id }: { id: number }) => id);
      return [ids, headers.get("X-Total-Count")];
    };
    expect(await listed({ as: owner })).toEqual([[first.id, hidden.id, last.id], "3"]);
    expect(await listed()).toEqual([[first.id, last.id], "2"]);
    expect(await listed({ as: await make.user() })).toEqual([[first.id, last.id], "2"]);
  });
});
