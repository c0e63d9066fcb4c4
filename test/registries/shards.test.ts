import { env } from "cloudflare:workers";
import { eq, inArray } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { runTask } from "../../src/domain/cron/run-tasks.ts";
import type { Database } from "../../src/db/db.ts";
import {
  accessTokens,
  auditEvents,
  events,
  packageBlobs,
  packageCleanupRules,
  packageLooseFiles,
  packages,
  packageShards,
  packageUsage,
  packageVersions,
  shards as shardTable,
  type User,
} from "../../src/db/schema/index.ts";
import { only } from "../../src/lib/only.ts";
import { packageFileKey } from "../../src/storage/keys.ts";
import { accountActor } from "../../src/auth/actor.ts";
import { digestOf, TestImage } from "../support/container-images.ts";
import { db } from "../support/db.ts";
import { freshName, make, type TestUser } from "../support/make.ts";
import {
  copyAll,
  ctxOf,
  PUBLISHED_THERE,
  putPackages,
  serve,
  shardOf,
  withPackageShards,
} from "../support/package-shards.ts";
import { makePackage } from "../support/packages.ts";

withPackageShards();

/** The names of an account's packages that a database has. */
const namesIn = async (database: Database, { id }: Pick<User, "id">): Promise<string[]> =>
  (await database.select().from(packages).where(eq(packages.ownerId, id)).orderBy(packages.id)).map(
    ({ name }) => name,
  );

/** The same of the first database and the shards, in their order. */
const namesEverywhere = async (owner: Pick<User, "id">): Promise<string[][]> =>
  Promise.all([0, 1, 2].map((shard) => namesIn(shardOf(shard), owner)));

const chosenFor = async ({ id }: Pick<User, "id">): Promise<number[]> =>
  (await db.select().from(packageShards).where(eq(packageShards.ownerId, id))).map(
    ({ shard }) => shard,
  );

/** How often versions of an account's packages in shard 1 were downloaded. */
const downloadsOf = async ({ id }: Pick<User, "id">): Promise<number> => {
  const isOwn = eq(packageVersions.ownerId, id);
  const rows = await shardOf(1).select().from(packageVersions).where(isOwn);
  return rows.reduce((sum, { downloadCount }) => sum + downloadCount, 0);
};

const fileOf = (owner: Pick<User, "name">, name: string, version = "1.0") =>
  `/api/packages/${owner.name}/generic/${name}/${version}/file.bin`;

const publish = (as: TestUser, owner: Pick<User, "name">, name: string, version?: string) =>
  serve("PUT", fileOf(owner, name, version), { as, body: `${name} ${version}` });

describe.each(Object.entries(PUBLISHED_THERE))("packages of %s in a shard", (format, served) => {
  it("are published, read, counted and deleted there", async () => {
    const owner = await make.user();
    await putPackages(owner, 1);

    const published = await served.publish(owner, "tool", "1.0.0");
    expect(published.status).toBeLessThan(300);
    const [first, ofOne] = await namesEverywhere(owner);
    expect([first, ofOne?.length]).toEqual([[], 1]);

    const reads = await served.reads(owner, "tool", "1.0.0");
    const before = await downloadsOf(owner);
    const answers = await Promise.all(
      reads.map(async ({ path, title, headers = {} }) => {
        const { status } = await serve("GET", path, { as: owner, headers });
        return { title, status };
      }),
    );
    expect(answers.length).toBeGreaterThan(0);
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);

    const listed = await serve("GET", `/api/v1/packages/${owner.name}`, { as: owner });
    const [entry] = listed.body;
    expect(entry).toMatchObject({ type: format, owner: { login: owner.name } });
    const downloads = reads.filter(({ isDownload }) => isDownload).length;
    expect(await downloadsOf(owner)).toBe(before + downloads);

    const at = [entry.name, entry.version].map(encodeURIComponent).join("/");
    const deleted = await serve("DELETE", `/api/v1/packages/${owner.name}/${format}/${at}`, {
      as: owner,
    });
    expect(deleted.status).toBe(204);
    const left = await serve("GET", `/api/v1/packages/${owner.name}`, { as: owner });
    expect(left.body).toEqual([]);
  });
});

describe("the database of an account's packages", () => {
  it("is an open shard, chosen by the first publication, once", async () => {
    const owner = await make.user();
    await copyAll();
    expect((await publish(owner, owner, "one")).status).toBe(201);
    const [chosen = 0, ...others] = await chosenFor(owner);
    expect([1, 2]).toContain(chosen);
    expect(others).toEqual([]);

    expect((await publish(owner, owner, "two")).status).toBe(201);
    expect(await namesIn(shardOf(chosen), owner)).toEqual(["one", "two"]);
    expect(await chosenFor(owner)).toEqual([chosen]);
  });

  it("is one for publications at the same time", async () => {
    const owner = await make.user();
    await copyAll();
    const names = ["a", "b", "c", "d", "e", "f"];
    const answers = await Promise.all(names.map((name) => publish(owner, owner, name)));
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 201));
    const [chosen = 0] = await chosenFor(owner);
    const found = await namesEverywhere(owner);
    expect(found[chosen]?.toSorted()).toEqual(names);
    expect(found.flat()).toHaveLength(names.length);
  });

  it("stays the first one for an account that has packages there", async () => {
    const owner = await make.user();
    await makePackage(owner, { name: "old" });
    await copyAll();
    expect((await publish(owner, owner, "new")).status).toBe(201);
    expect(await chosenFor(owner)).toEqual([0]);
    expect(await namesEverywhere(owner)).toEqual([["old", "new"], [], []]);
    expect((await serve("GET", fileOf(owner, "new"), { as: owner })).status).toBe(200);
  });

  it("is the first one while no shard is open", async () => {
    const owner = await make.user();
    await copyAll();
    await db.update(shardTable).set({ isOpen: false });
    try {
      expect((await publish(owner, owner, "one")).status).toBe(201);
    } finally {
      await db.update(shardTable).set({ isOpen: true });
    }
    expect(await chosenFor(owner)).toEqual([0]);
    expect(await namesEverywhere(owner)).toEqual([["one"], [], []]);
  });

  it("is not chosen by reads, deletions and callers who may not publish", async () => {
    const [owner, other] = [await make.user(), await make.user()];
    await copyAll();
    const statuses = [
      (await serve("GET", fileOf(owner, "one"), { as: owner })).status,
      (await serve("DELETE", fileOf(owner, "one"), { as: owner })).status,
      (await publish(other, owner, "one")).status,
      (await serve("PUT", fileOf(owner, "one"), { body: "x" })).status,
    ];
    expect(statuses).toEqual([404, 404, 401, 401]);
    expect(await chosenFor(owner)).toEqual([]);
    expect(await namesEverywhere(owner)).toEqual([[], [], []]);
  });

  it("gets a copy of an account that it does not have yet", async () => {
    const [owner, publisher] = [await make.user(), await make.user()];
    await putPackages(owner, 2);
    const org = await make.org([publisher]);
    await db.insert(packageShards).values({ ownerId: org.id, shard: 2 });
    expect((await publish(publisher, org, "early")).status).toBe(201);
    expect(await namesIn(shardOf(2), org)).toEqual(["early"]);
    expect((await serve("GET", fileOf(org, "early"), { as: publisher })).status).toBe(200);
  });

  it("follows a renamed account", async () => {
    const owner = await make.user();
    await putPackages(owner, 2);
    await publish(owner, owner, "tool");
    const name = freshName("renamed");
    const admin = await make.admin();
    const renamed = await serve("POST", `/api/v1/admin/users/${owner.name}/rename`, {
      as: admin,
      json: { new_username: name },
    });
    expect(renamed.status).toBe(204);
    expect((await serve("GET", fileOf({ name }, "tool"), { as: owner })).status).toBe(200);
    expect((await serve("GET", fileOf(owner, "tool"), { as: owner })).status).toBe(307);
  });
});

describe("images in a shard", () => {
  it("are uploaded in parts, and share contents", async () => {
    const owner = await make.user();
    await putPackages(owner, 2);
    const image = new TestImage(owner, "parts", owner, serve);
    const upload = await image.begin();
    expect((await image.request("PATCH", upload, { body: "first " })).status).toBe(202);
    const digest = digestOf("first second");
    const put = await image.request("PUT", `${upload}?digest=${digest}`, { body: "second" });
    expect(put.status).toBe(201);

    const other = new TestImage(owner, "other", owner, serve);
    const mounted = await other.request(
      "POST",
      `blobs/uploads/?mount=${digest}&from=${owner.name}/parts`,
    );
    expect(mounted.status).toBe(201);
    expect((await other.get(`blobs/${digest}`)).body).toBe("first second");
    const blobs = await shardOf(2)
      .select()
      .from(packageBlobs)
      .where(eq(packageBlobs.ownerId, owner.id));
    expect(blobs).toMatchObject([{ sha256: digest.slice("sha256:".length) }]);
  });

  it("are in one catalog with those of other databases", async () => {
    const prefix = freshName("cat");
    const owners = await Promise.all(
      [0, 1, 2, 0, 1].map((shard, at) =>
        make.user({ name: `${prefix}-${at}`, lowerName: `${prefix}-${at}` }).then((owner) => ({
          owner,
          shard,
        })),
      ),
    );
    for (const { owner, shard } of owners) {
      await putPackages(owner, shard);
      await new TestImage(owner, "app", owner, serve).push("1");
    }
    const all = owners.map(({ owner }) => `${owner.name}/app`);
    const reader = only(owners.slice(0, 1)).owner;
    const seen: string[] = [];
    let next: string | undefined = `/v2/_catalog?n=2&last=${prefix}`;
    for (let pages = 0; next !== undefined && pages < 3; pages++) {
      const { body, headers } = await serve("GET", next, { as: reader });
      seen.push(...body.repositories);
      next = /<(.*?)>/.exec(headers.get("Link") ?? "")?.[1];
    }
    expect(seen.filter((name) => name.startsWith(prefix))).toEqual(all);
  });
});

describe("a login by npm to an account whose packages are in a shard", () => {
  it("makes a token, and ends it", async () => {
    const owner = await make.userWithPassword();
    await putPackages(owner, 1);
    const root = `/api/packages/${owner.name}/npm/-/user`;
    const { status, body } = await serve("PUT", `${root}/org.couchdb.user:${owner.name}`, {
      json: { name: owner.name, password: owner.password },
    });
    expect(status).toBe(201);
    const out = await serve("DELETE", `${root}/token/${body.token}`, { token: body.token });
    expect(out.status).toBe(200);
    const tokens = await db.select().from(accessTokens).where(eq(accessTokens.userId, owner.id));
    expect(tokens).toHaveLength(1);
  });
});

describe("the schedule", () => {
  it("applies cleanup rules, and removes bytes, in a shard", async () => {
    const owner = await make.user();
    await putPackages(owner, 1);
    for (const version of ["1.0", "2.0", "3.0"]) await publish(owner, owner, "tool", version);
    const shard = shardOf(1);
    const rules = `/api/v1/packages/${owner.name}/-/cleanup-rules`;
    const rule = { type: "generic", keep_count: 1 };
    expect((await serve("POST", rules, { as: owner, json: rule })).status).toBe(201);
    const isOwners = eq(packageCleanupRules.ownerId, owner.id);
    expect(await db.select().from(packageCleanupRules).where(isOwners)).toEqual([]);
    const isOwn = eq(packageBlobs.ownerId, owner.id);
    const stored = await shard.select().from(packageBlobs).where(isOwn);
    expect(stored).toHaveLength(3);

    const system = { actor: accountActor(await make.admin()) };
    await runTask({ ...ctxOf(), ...system }, "cleanup_packages");
    const left = await serve("GET", `/api/v1/packages/${owner.name}`, { as: owner });
    expect(left.body.map(({ version }: { version: string }) => version)).toEqual(["3.0"]);
    const [kept] = await shard.select().from(packageBlobs).where(isOwn);

    await runTask(
      { ...ctxOf(Date.now() + 2 * 60 * 60 * 1000), ...system },
      "delete_unused_packages",
    );
    const uuids = stored.map(({ uuid }) => uuid);
    const there = await Promise.all(
      uuids.map(async (uuid) => ((await env.PACKS.head(packageFileKey(uuid))) ? uuid : undefined)),
    );
    expect(there.filter((uuid) => uuid !== undefined)).toEqual([kept?.uuid]);
    const notes = inArray(packageLooseFiles.uuid, uuids);
    expect(await shard.select().from(packageLooseFiles).where(notes)).toEqual([]);
  });
});

describe("the deletion of an account whose packages are in a shard", () => {
  it("is refused, unless it is a purge, which takes them along", async () => {
    const [owner, admin] = [await make.user(), await make.admin()];
    await putPackages(owner, 2);
    await publish(owner, owner, "tool");
    const shard = shardOf(2);
    const [blob] = await shard
      .select()
      .from(packageBlobs)
      .where(eq(packageBlobs.ownerId, owner.id));

    const path = `/api/v1/admin/users/${owner.name}`;
    const refused = await serve("DELETE", path, { as: admin });
    expect(refused).toMatchObject({
      status: 422,
      body: { message: `user still has ownership of packages [uid: ${owner.id}]` },
    });
    expect(await namesIn(shard, owner)).toEqual(["tool"]);
    expect((await serve("GET", "/api/v1/user", { as: owner })).status).toBe(200);

    expect((await serve("DELETE", `${path}?purge=true`, { as: admin })).status).toBe(204);
    await copyAll();
    expect(await namesIn(shard, owner)).toEqual([]);
    expect(await chosenFor(owner)).toEqual([]);
    const isUsage = eq(packageUsage.ownerId, owner.id);
    expect(await shard.select().from(packageUsage).where(isUsage)).toEqual([]);
    const isNote = eq(packageLooseFiles.uuid, blob?.uuid ?? "");
    expect(await shard.select().from(packageLooseFiles).where(isNote)).toHaveLength(1);
  });

  it("leaves versions that the account published for others", async () => {
    const [owner, publisher, admin] = [await make.user(), await make.user(), await make.admin()];
    const org = await make.org([owner, publisher]);
    await putPackages(org, 1);
    await publish(publisher, org, "tool");
    const path = `/api/v1/admin/users/${publisher.name}?purge=true`;
    expect((await serve("DELETE", path, { as: admin })).status).toBe(204);
    const isOrgs = eq(packageVersions.ownerId, org.id);
    expect(await shardOf(1).select().from(packageVersions).where(isOrgs)).toMatchObject([
      { creatorId: null },
    ]);
  });

  it("is refused of an organization", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    await putPackages(org, 1);
    await publish(owner, org, "tool");
    const path = `/api/v1/orgs/${org.name}`;
    expect(await serve("DELETE", path, { as: owner })).toMatchObject({
      status: 422,
      body: { message: `organization still has ownership of packages [uid: ${org.id}]` },
    });
    const deletions = [eq(auditEvents.ownerId, org.id), eq(events.ownerId, org.id)] as const;
    expect(await db.select().from(auditEvents).where(deletions[0])).toEqual([]);
    expect(await db.select().from(events).where(deletions[1])).toEqual([]);

    await serve("DELETE", fileOf(org, "tool"), { as: owner });
    expect((await serve("DELETE", path, { as: owner })).status).toBe(204);
  });
});
