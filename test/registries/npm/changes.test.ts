import { and, eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { events, packages, packageVersions } from "../../../src/db/schema/index.ts";
import { visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { publish, registryPath } from "./documents.ts";

let owner: TestUser;
let other: TestUser;

beforeAll(async () => {
  [owner, other] = await Promise.all([make.user(), make.user()]);
});

const at = (path: string): string => registryPath(owner, path);
const read = async (name: string) => (await visit("GET", at(name))).body;
const send = (method: string, path: string, json?: unknown, as = owner) =>
  visit(method, at(path), { as, ...(json !== undefined && { json }) });

/** A package with the versions 1.0.0, 1.1.0 and 2.0.0, which is the latest. */
async function makePackage(): Promise<string> {
  const name = freshName("tool");
  for (const version of ["1.0.0", "1.1.0", "2.0.0"]) await publish(owner, name, version);
  return name;
}

describe("a document without a tarball", () => {
  it("deprecates versions, and takes that back", async () => {
    const name = await makePackage();
    const document = await read(name);
    for (const version of ["1.0.0", "1.1.0"]) document.versions[version].deprecated = "use 2";
    expect(await send("PUT", name, document)).toMatchObject({ status: 201 });
    const after = await read(name);
    expect(after.versions["1.0.0"].deprecated).toBe("use 2");
    expect(after.versions["2.0.0"].deprecated).toBeUndefined();
    const headers = { Accept: "application/vnd.npm.install-v1+json" };
    const abbreviated = await visit("GET", at(name), { headers });
    expect(JSON.parse(abbreviated.body).versions["1.1.0"].deprecated).toBe("use 2");
    after.versions["1.0.0"].deprecated = "";
    expect(await send("PUT", name, after)).toMatchObject({ status: 201 });
    const last = await read(name);
    expect("deprecated" in last.versions["1.0.0"]).toBe(false);
    expect(last.versions["1.1.0"].deprecated).toBe("use 2");
  });

  it("changes nothing else of a version", async () => {
    const name = await makePackage();
    const document = await read(name);
    document.versions["1.0.0"].dependencies = { evil: "*" };
    document.versions["1.0.0"].dist.integrity = "sha512-none";
    expect(await send("PUT", name, document)).toMatchObject({ status: 201 });
    const { _rev: _, ...after } = await read(name);
    expect(after.versions["1.0.0"].dependencies).toBeUndefined();
    expect(after.versions["1.0.0"].dist.integrity).not.toBe("sha512-none");
  });

  it("is refused if the package has changed since it was read", async () => {
    const name = await makePackage();
    const document = await read(name);
    await publish(owner, name, "3.0.0");
    document.versions["1.0.0"].deprecated = "late";
    expect(await send("PUT", name, document)).toMatchObject({ status: 409 });
    const after = await read(name);
    expect(after.versions["1.0.0"].deprecated).toBeUndefined();
    expect(after["dist-tags"]).toEqual({ latest: "3.0.0" });
  });

  it("is refused with a version that has no tarball, or a bad reason", async () => {
    const name = await makePackage();
    const document = await read(name);
    const versions = { ...document.versions, "9.0.0": { name, version: "9.0.0" } };
    expect(await send("PUT", name, { ...document, versions })).toMatchObject({ status: 400 });
    for (const deprecated of [1, {}, "x".repeat(5000)]) {
      document.versions["1.0.0"].deprecated = deprecated;
      expect(await send("PUT", name, document)).toMatchObject({ status: 400 });
    }
    expect((await read(name)).versions["1.0.0"].deprecated).toBeUndefined();
  });

  it("is refused of another user, and of nobody", async () => {
    const name = await makePackage();
    const document = await read(name);
    document.versions["1.0.0"].deprecated = "by a stranger";
    expect(await send("PUT", name, document, other)).toMatchObject({ status: 401 });
    expect(await visit("PUT", at(name), { json: document })).toMatchObject({ status: 401 });
    expect((await read(name)).versions["1.0.0"].deprecated).toBeUndefined();
  });
});

describe("dist-tags", () => {
  const tagsOf = async (name: string) =>
    (await visit("GET", at(`-/package/${name}/dist-tags`))).body;

  it("are set, moved and deleted one by one", async () => {
    const name = await makePackage();
    const path = `-/package/${name}/dist-tags`;
    expect(await send("PUT", `${path}/stable`, "1.0.0")).toMatchObject({ status: 200 });
    expect(await tagsOf(name)).toEqual({ latest: "2.0.0", stable: "1.0.0" });
    expect(await send("POST", `${path}/stable`, "1.1.0")).toMatchObject({ status: 200 });
    expect(await tagsOf(name)).toEqual({ latest: "2.0.0", stable: "1.1.0" });
    for (const _ of [1, 2]) {
      expect(await send("DELETE", `${path}/stable`)).toMatchObject({ status: 200 });
    }
    expect(await tagsOf(name)).toEqual({ latest: "2.0.0" });
  });

  it("of a scoped package", async () => {
    const name = `@scope/${freshName("tool")}`;
    await publish(owner, name, "1.0.0");
    for (const path of [name, name.replace("/", "%2f")]) {
      expect(await send("PUT", `-/package/${path}/dist-tags/stable`, "1.0.0")).toMatchObject({
        status: 200,
      });
    }
    expect(await tagsOf(name)).toEqual({ latest: "1.0.0", stable: "1.0.0" });
  });

  it("name a version by a path, and latest is the highest where it was never set", async () => {
    const name = freshName("tool");
    for (const version of ["2.0.0", "1.0.0"]) await publish(owner, name, version, { tag: "old" });
    expect(await read(`${name}/old`)).toMatchObject({ version: "1.0.0" });
    expect(await read(`${name}/latest`)).toMatchObject({ version: "2.0.0" });
    expect(await visit("GET", at(`${name}/next`))).toMatchObject({ status: 404 });
  });

  it("have no latest after it was deleted, until it is set again", async () => {
    const name = await makePackage();
    const path = `-/package/${name}/dist-tags`;
    expect(await read(`${name}/latest`)).toMatchObject({ version: "2.0.0" });
    await send("DELETE", `${path}/latest`);
    expect(await tagsOf(name)).toEqual({});
    expect(await visit("GET", at(`${name}/latest`))).toMatchObject({ status: 404 });
    await publish(owner, name, "3.0.0", { tag: "next" });
    expect(await tagsOf(name)).toEqual({ next: "3.0.0" });
    await send("PUT", `${path}/latest`, "1.0.0");
    expect(await tagsOf(name)).toEqual({ next: "3.0.0", latest: "1.0.0" });
  });

  it("are merged by POST and replaced by PUT", async () => {
    const name = await makePackage();
    const path = `-/package/${name}/dist-tags`;
    await send("POST", path, { a: "1.0.0", b: "1.1.0" });
    expect(await tagsOf(name)).toEqual({ latest: "2.0.0", a: "1.0.0", b: "1.1.0" });
    await send("PUT", path, { b: "1.0.0", latest: "1.1.0" });
    expect(await tagsOf(name)).toEqual({ b: "1.0.0", latest: "1.1.0" });
  });

  it("are refused for what is no tag or no version", async () => {
    const name = await makePackage();
    const path = `-/package/${name}/dist-tags`;
    for (const tag of ["1.0.0", "^1", "x", "*", "a%20b", "t".repeat(200), "a%2Fb"]) {
      expect([tag, (await send("PUT", `${path}/${tag}`, "1.0.0")).status]).toEqual([tag, 400]);
    }
    expect(await send("PUT", `${path}/good`, "9.0.0")).toMatchObject({ status: 404 });
    expect(await send("PUT", `${path}/good`, "none")).toMatchObject({ status: 404 });
    for (const body of [1, null, ["1.0.0"], { version: "1.0.0" }]) {
      expect(await send("PUT", `${path}/good`, body)).toMatchObject({ status: 400 });
    }
    const text = await visit("PUT", at(`${path}/good`), { as: owner, body: "1.0.0" });
    expect(text.status).toBe(400);
    const long = await visit("PUT", at(`${path}/good`), { as: owner, body: "x".repeat(20_000) });
    expect(long.status).toBe(413);
    expect(await send("POST", path, { good: "1.0.0", "1.0.0": "1.0.0" })).toMatchObject({
      status: 400,
    });
    const many = Object.fromEntries(
      Array.from({ length: 1001 }, (_, each) => [`t${each}`, "1.0.0"]),
    );
    expect(await send("POST", path, many)).toMatchObject({ status: 400 });
    expect(await tagsOf(name)).toEqual({ latest: "2.0.0" });
  });

  it("are for those who may publish", async () => {
    const name = await makePackage();
    const path = `-/package/${name}/dist-tags/stable`;
    expect(await send("PUT", path, "1.0.0", other)).toMatchObject({ status: 401 });
    expect(await visit("PUT", at(path), { json: "1.0.0" })).toMatchObject({ status: 401 });
    expect(await send("DELETE", path.replace(/stable$/, "latest"), undefined, other)).toMatchObject(
      {
        status: 401,
      },
    );
    expect(await tagsOf(name)).toEqual({ latest: "2.0.0" });
  });
});

describe("unpublishing", () => {
  const idOf = async (name: string, version: string): Promise<number> => {
    const [row] = await db
      .select({ id: packageVersions.id })
      .from(packageVersions)
      .innerJoin(packages, eq(packages.id, packageVersions.packageId))
      .where(and(eq(packages.name, name), eq(packageVersions.version, version)));
    return row?.id ?? 0;
  };

  /** What was announced of deleted versions. */
  const deletionsOf = async (name: string) => {
    const recorded = await db.select().from(events).where(eq(events.type, "package.deleted"));
    return recorded.map(({ payload }) => payload).filter((payload) => payload["name"] === name);
  };

  // The tarball that npm requests next may name another address: then nothing else would be asked.
  it("takes one version as npm does: the document without it, then its tarball", async () => {
    const name = await makePackage();
    const document = await read(name);
    delete document.versions["2.0.0"];
    document["dist-tags"] = { latest: "1.1.0" };
    expect(await send("PUT", `${name}/-rev/${document["_rev"]}`, document)).toMatchObject({
      status: 200,
    });
    const after = await read(name);
    expect(Object.keys(after.versions)).toEqual(["1.0.0", "1.1.0"]);
    expect(after["dist-tags"]).toEqual({ latest: "1.1.0" });
    const tarball = `${name}/-/2.0.0/${name}-2.0.0.tgz`;
    expect(await visit("GET", at(tarball))).toMatchObject({ status: 404 });
    expect(await send("DELETE", `${tarball}/-rev/${after["_rev"]}`)).toMatchObject({ status: 404 });
    expect(await deletionsOf(name)).toMatchObject([{ version: "2.0.0" }]);
    expect(await publish(owner, name, "2.0.0")).toMatchObject({ status: 201 });
  });

  it("takes several versions with their tags, and deprecates another, by one document", async () => {
    const name = await makePackage();
    await send("PUT", `-/package/${name}/dist-tags/old`, "1.0.0");
    const { "dist-tags": _, ...document } = await read(name);
    delete document.versions["1.0.0"];
    delete document.versions["2.0.0"];
    document.versions["1.1.0"].deprecated = "the last one";
    expect(await send("PUT", `${name}/-rev/${document["_rev"]}`, document)).toMatchObject({
      status: 200,
    });
    const after = await read(name);
    expect(Object.keys(after.versions)).toEqual(["1.1.0"]);
    expect(after["dist-tags"]).toEqual({ latest: "1.1.0" });
    expect(after.versions["1.1.0"].deprecated).toBe("the last one");
    expect((await deletionsOf(name)).map(({ version }) => version)).toEqual(["1.0.0", "2.0.0"]);
  });

  it("by a document is refused where that could delete what its sender has not seen", async () => {
    const name = await makePackage();
    const document = await read(name);
    const { ["2.0.0"]: _, ...versions } = document.versions;
    const tags = { latest: "1.1.0" };
    const current: string = document["_rev"];
    for (const [revision, changes, status] of [
      // The revision of another registry, or of none.
      ["undefined", { versions, "dist-tags": tags }, 400],
      ["5-abc", { versions, "dist-tags": tags }, 400],
      [current.replace(/^\d+/, "1"), { versions, "dist-tags": tags }, 409],
      // A tag of what the document leaves out, no versions at all, and stars.
      [current, { versions, "dist-tags": { latest: "2.0.0" } }, 400],
      [current, { versions: {}, "dist-tags": {} }, 400],
      [current, { versions: undefined, maintainers: [{ name: "x" }] }, 400],
      [current, { users: { [owner.name]: true } }, 400],
    ] as const) {
      const answer = await send("PUT", `${name}/-rev/${revision}`, { ...document, ...changes });
      expect([revision, changes, answer.status]).toEqual([revision, changes, status]);
    }
    expect(await read(name)).toEqual(document);
    expect(await deletionsOf(name)).toEqual([]);
  });

  it("takes no version by a document that is put in place of no revision", async () => {
    const name = await makePackage();
    const { _rev, ...document } = await read(name);
    delete document.versions["2.0.0"];
    delete document["dist-tags"];
    document.versions["1.0.0"].deprecated = "use 2";
    expect(await send("PUT", name, document)).toMatchObject({ status: 201 });
    expect(await send("PUT", name, { ...document, versions: {} })).toMatchObject({ status: 400 });
    const after = await read(name);
    expect(Object.keys(after.versions)).toHaveLength(3);
    expect(after.versions["1.0.0"].deprecated).toBe("use 2");
  });

  it("takes one version by its tarball alone, without a revision of ours", async () => {
    const name = await makePackage();
    expect(await send("DELETE", `${name}/-/${name}-2.0.0.tgz/-rev/undefined`)).toMatchObject({
      status: 200,
    });
    expect((await read(name))["dist-tags"]).toEqual({ latest: "1.1.0" });
    expect(await deletionsOf(name)).toMatchObject([{ version: "2.0.0" }]);
  });

  it("takes the whole package, unless it has changed since it was read", async () => {
    const name = await makePackage();
    const { _rev } = await read(name);
    await publish(owner, name, "3.0.0");
    expect(await send("DELETE", `${name}/-rev/${_rev}`)).toMatchObject({ status: 409 });
    expect(Object.keys((await read(name)).versions)).toHaveLength(4);
    const { _rev: current } = await read(name);
    expect(await send("DELETE", `${name}/-rev/${current}`)).toMatchObject({ status: 200 });
    expect(await visit("GET", at(name))).toMatchObject({ status: 404 });
    expect(await send("DELETE", `${name}/-rev/${current}`)).toMatchObject({ status: 404 });
    expect(await db.select().from(packages).where(eq(packages.name, name))).toEqual([]);
  });

  it("is for those who may publish", async () => {
    const name = await makePackage();
    for (const path of [`${name}/-rev/1`, `${name}/-/1.0.0/${name}-1.0.0.tgz/-rev/1`]) {
      expect(await send("DELETE", path, undefined, other)).toMatchObject({ status: 401 });
      expect(await visit("DELETE", at(path))).toMatchObject({ status: 401 });
    }
    const document = await read(name);
    expect(await send("PUT", `${name}/-rev/1`, document, other)).toMatchObject({ status: 401 });
    expect(await idOf(name, "1.0.0")).toBeGreaterThan(0);
  });

  it("does not take a tarball through another package or version", async () => {
    const [name, second] = [await makePackage(), await makePackage()];
    for (const path of [
      `${second}/-/1.0.0/${name}-1.0.0.tgz`,
      `${name}/-/1.1.0/${name}-1.0.0.tgz`,
      `${name}/-/one/${name}-1.0.0.tgz`,
    ]) {
      expect([path, (await send("DELETE", `${path}/-rev/1`)).status]).toEqual([path, 404]);
    }
    expect(await idOf(name, "1.0.0")).toBeGreaterThan(0);
  });
});
