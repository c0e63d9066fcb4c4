import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { publicKeys } from "../../../src/db/schema/index.ts";
import { auditOf } from "../../support/audit.ts";
import { call, type Sending } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsIn } from "../../support/events.ts";
import { makeSshKey } from "../../support/keys.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";

const keysOf = ({ id }: TestUser) => db.select().from(publicKeys).where(eq(publicKeys.userId, id));
const newKey = () => ({ title: freshName("key"), key: makeSshKey().line });
const pathOf = ({ name }: { name: string }) => `/admin/users/${name}/keys`;

describe("POST /admin/users/{username}/keys", () => {
  it("adds a key to the user's account, and records who did", async () => {
    const [admin, user] = [await make.admin(), await make.user()];
    const sent = newKey();
    const answer = await call("POST", pathOf(user), { as: admin, json: sent });
    expect(answer).toMatchObject({
      status: 201,
      body: { title: sent.title, key_type: "user", user: { login: user.name } },
    });
    expect(await keysOf(user)).toMatchObject([{ title: sent.title, repoId: null }]);
    expect(await eventsIn(user)).toMatchObject([{ type: "public_key.added", actorId: admin.id }]);
    expect(await auditOf(user)).toMatchObject([{ kind: "public_key.added", actorId: admin.id }]);
  });

  it("refuses keys that are in use or invalid, and fields that are missing", async () => {
    const [admin, user] = [await make.admin(), await make.user()];
    const post = async (json: object) =>
      (await call("POST", pathOf(user), { as: admin, json })).status;
    const sent = newKey();
    expect(await post(sent)).toBe(201);
    expect(await post({ ...sent, title: "other" })).toBe(422);
    expect(await post({ title: "other", key: "ssh-rsa x" })).toBe(422);
    expect(await post({ key: makeSshKey().line })).toBe(422);
    expect(await keysOf(user)).toHaveLength(1);
  });

  it("is for administrators, and for users that exist", async () => {
    const [admin, user] = [await make.admin(), await make.user()];
    const statusOf = async (path: string, sending: Sending) =>
      (await call("POST", path, { json: newKey(), ...sending })).status;
    expect(await statusOf(pathOf(user), {})).toBe(401);
    expect(await statusOf(pathOf(user), { as: user })).toBe(403);
    const token = await make.token(admin, { scopes: "read:admin,write:user" });
    expect(await statusOf(pathOf(user), { token })).toBe(403);
    expect(await statusOf(pathOf({ name: freshName("none") }), { as: admin })).toBe(404);
    expect(await statusOf(pathOf(await make.org([user])), { as: admin })).toBe(404);
    expect(await keysOf(user)).toEqual([]);
  });
});

describe("DELETE /admin/users/{username}/keys/{id}", () => {
  it("removes the user's key once", async () => {
    const [admin, user] = [await make.admin(), await make.user()];
    const { body } = await call("POST", pathOf(user), { as: admin, json: newKey() });
    const path = `${pathOf(user)}/${body.id}`;
    expect((await call("DELETE", path, { as: admin })).status).toBe(204);
    expect(await keysOf(user)).toEqual([]);
    expect((await call("DELETE", path, { as: admin })).status).toBe(404);
  });

  it("refuses keys of others, deploy keys and callers who are not administrators", async () => {
    const [admin, user, other] = [await make.admin(), await make.user(), await make.user()];
    const { body } = await call("POST", pathOf(user), { as: admin, json: newKey() });
    const repo = await make.repo(user);
    const deployKeys = `/repos/${user.name}/${repo.name}/keys`;
    const { body: deployed } = await call("POST", deployKeys, { as: user, json: newKey() });
    const statusOf = async (path: string, sending: Sending) =>
      (await call("DELETE", path, sending)).status;
    expect(await statusOf(`${pathOf(other)}/${body.id}`, { as: admin })).toBe(403);
    expect(await statusOf(`${pathOf(user)}/${deployed.id}`, { as: admin })).toBe(404);
    expect(await statusOf(`${pathOf(user)}/${body.id}`, { as: other })).toBe(403);
    expect(await statusOf(`${pathOf(user)}/${body.id}`, {})).toBe(401);
    expect(await keysOf(user)).toHaveLength(2);
  });
});
