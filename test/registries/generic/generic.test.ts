import { and, eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import {
  events,
  packageBlobs,
  packages,
  packageUsage,
  packageVersions,
} from "../../../src/db/schema/index.ts";
import { visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { listLooseBlobs, looseBlobsSince } from "../../support/loose-blobs.ts";

let owner: TestUser;
let other: TestUser;

beforeAll(async () => {
  [owner, other] = await Promise.all([make.user(), make.user()]);
});

const at = (path: string, user: Pick<TestUser, "name"> = owner): string =>
  `/api/packages/${user.name}/generic/${path}`;

const put = (path: string, body: string, as = owner) =>
  visit("PUT", at(path), { as, body: new TextEncoder().encode(body) });

const rowsOf = (name: string) =>
  db
    .select()
    .from(packageVersions)
    .innerJoin(packages, eq(packages.id, packageVersions.packageId))
    .where(and(eq(packages.ownerId, owner.id), eq(packages.nameKey, name.toLowerCase())));

describe("a file of a generic package", () => {
  it("is published and read by anybody", async () => {
    const name = freshName("Tool");
    expect(await put(`${name}/1.0/tool.bin`, "bytes")).toMatchObject({ status: 201 });
    const answer = await visit("GET", at(`${name}/1.0/tool.bin`));
    expect(answer).toMatchObject({ status: 200, body: "bytes" });
    expect(answer.headers.get("ETag")).toMatch(/^"[0-9a-f]{64}"$/);
    const part = await visit("GET", at(`${name.toLowerCase()}/1.0/tool.bin`), {
      headers: { Range: "bytes=1-2" },
    });
    expect(part).toMatchObject({ status: 206, body: "yt" });
    const [row] = await rowsOf(name);
    expect(row?.package_versions).toMatchObject({ version: "1.0", creatorId: owner.id });
    const recorded = await db.select().from(events).where(eq(events.type, "package.created"));
    expect(recorded.filter(({ payload }) => payload["name"] === name)).toHaveLength(1);
  });

  it("is there once: a second one of its name is refused, and leaves nothing", async () => {
    const name = freshName("once");
    await put(`${name}/1/a`, "first");
    const before = await listLooseBlobs();
    expect(await put(`${name}/1/a`, "second")).toMatchObject({ status: 409 });
    expect((await visit("GET", at(`${name}/1/a`))).body).toBe("first");
    await expect.poll(() => looseBlobsSince(before)).toEqual([]);
    expect(await put(`${name}/1/b`, "second")).toMatchObject({ status: 201 });
  });

  it("goes with its version and package, and its content with its last file", async () => {
    const [usage] = await db.select().from(packageUsage).where(eq(packageUsage.ownerId, owner.id));
    const name = freshName("gone");
    await put(`${name}/1/a`, "the same content");
    await put(`${name}/1/b`, "the same content");
    const isContent = and(
      eq(packageBlobs.ownerId, owner.id),
      eq(packageBlobs.sizeBytes, "the same content".length),
    );
    expect(await db.select().from(packageBlobs).where(isContent)).toHaveLength(1);
    const remove = (path: string) => visit("DELETE", at(path), { as: owner });
    expect(await remove(`${name}/1/a`)).toMatchObject({ status: 204 });
    expect(await db.select().from(packageBlobs).where(isContent)).toHaveLength(1);
    expect(await remove(`${name}/1/a`)).toMatchObject({ status: 404 });
    expect(await remove(`${name}/1/b`)).toMatchObject({ status: 204 });
    expect(await db.select().from(packageBlobs).where(isContent)).toHaveLength(0);
    expect(await rowsOf(name)).toHaveLength(0);
    expect(await db.select().from(packages).where(eq(packages.name, name))).toHaveLength(0);
    const [after] = await db.select().from(packageUsage).where(eq(packageUsage.ownerId, owner.id));
    expect(after).toEqual(usage);
  });

  it.each([
    ["no credential", (): TestUser | undefined => undefined, 401],
    ["another user", (): TestUser | undefined => other, 401],
  ] as const)("is not published by %s", async (_, who, status) => {
    const name = freshName("refused");
    const as = who();
    const answer = await visit("PUT", at(`${name}/1/a`), { ...(as && { as }), body: "x" });
    expect(answer.status).toBe(status);
    expect(answer.headers.get("WWW-Authenticate")).toContain("Basic");
    expect(await rowsOf(name)).toHaveLength(0);
  });

  it.each(["../1/a", "a%2Fb/1/a", "a/../a", "a/1/..", "a/1/%00", "a/1%2F2/b"])(
    "is not published as %s",
    async (path) => {
      const answer = await visit("PUT", at(path), { as: owner, body: "x" });
      expect([400, 404]).toContain(answer.status);
    },
  );

  it("of a private owner is for the owner alone", async () => {
    const secret = await make.user({ visibility: "private" });
    const path = at("tool/1/a", secret);
    await visit("PUT", path, { as: secret, body: "x" });
    expect(await visit("GET", path, { as: secret })).toMatchObject({ status: 200 });
    expect((await visit("GET", path)).status).toBe(401);
    expect((await visit("GET", path, { as: other })).status).toBe(404);
    expect((await visit("GET", path.replace(secret.name, "nobody-of-this-name"))).status).toBe(401);
  });
});
