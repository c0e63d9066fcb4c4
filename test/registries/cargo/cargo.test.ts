import { eq } from "drizzle-orm";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";

import { packages } from "../../../src/db/schema/index.ts";
import { indexFolderOf } from "../../../src/registries/cargo/names.ts";
import { makeTarGz } from "../../support/archives.ts";
import { visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { listLooseBlobs, looseBlobsSince } from "../../support/loose-blobs.ts";
import { frame, makeCrate, type MadeCrate, publish, publishBody } from "./crates.ts";

let owner: TestUser;
let other: TestUser;

beforeAll(async () => {
  [owner, other] = await Promise.all([make.user(), make.user()]);
});

/** The bytes that no package referred to before the test. */
let looseBefore: ReadonlySet<string>;
beforeEach(async () => {
  looseBefore = await listLooseBlobs();
});

const at = (path: string, user: Pick<TestUser, "name"> = owner): string =>
  `/api/packages/${user.name}/cargo${path}`;

const get = (path: string, headers: Record<string, string> = {}) =>
  visit("GET", at(path), { headers });

const indexOf = (name: string): string => `/${indexFolderOf(name)}/${name.toLowerCase()}`;

const readLines = async (name: string): Promise<object[]> => {
  const { body } = await get(indexOf(name));
  return (body as string)
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
};

const isThere = async (name: string): Promise<boolean> =>
  (await db.select().from(packages).where(eq(packages.name, name))).length > 0;

const fresh = () =>
  `c${freshName("x")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "")}`;

describe("a crate", () => {
  it("is published, indexed and downloaded", async () => {
    const name = fresh();
    const crate = await makeCrate(name, "1.0.0", {
      more: {
        deps: [
          {
            name: "dep",
            version_req: "^1",
            features: ["a"],
            optional: true,
            default_features: false,
            target: null,
            kind: "normal",
            registry: null,
          },
          {
            name: "real",
            version_req: ">=1.2, <2",
            explicit_name_in_toml: "alias",
            kind: "dev",
            registry: "https://example.org/index",
          },
        ],
        features: { plain: ["alias/x"], later: ["dep:dep", "dep?/y"] },
        links: "z",
        rust_version: "1.70",
        description: "Small",
      },
    });
    expect(await publish(owner, crate)).toMatchObject({ status: 200, body: { ok: true } });
    const digest = await crypto.subtle.digest("SHA-256", crate.bytes.slice());
    const cksum = [...new Uint8Array(digest)]
      .map((byte) => byte.toString(16).padStart(2, "0"))
      .join("");
    expect(await readLines(name)).toEqual([
      {
        name,
        vers: "1.0.0",
        deps: [
          {
            name: "dep",
            req: "^1",
            features: ["a"],
            optional: true,
            default_features: false,
            target: null,
            kind: "normal",
            registry: null,
            package: null,
          },
          {
            name: "alias",
            req: ">=1.2, <2",
            features: [],
            optional: false,
            default_features: true,
            target: null,
            kind: "dev",
            registry: "https://example.org/index",
            package: "real",
          },
        ],
        cksum,
        features: { plain: ["alias/x"] },
        features2: { later: ["dep:dep", "dep?/y"] },
        v: 2,
        yanked: false,
        links: "z",
        rust_version: "1.70",
      },
    ]);
    const download = await get(`/api/v1/crates/${name}/1.0.0/download`);
    expect(download.status).toBe(200);
    expect(download.headers.get("Content-Length")).toBe(String(crate.bytes.length));
  });

  it("is indexed once more after a change only", async () => {
    const name = fresh();
    await publish(owner, await makeCrate(name, "1.0.0"));
    const first = await get(indexOf(name));
    const tag = first.headers.get("ETag") ?? "";
    expect((await get(indexOf(name), { "If-None-Match": tag })).status).toBe(304);
    await publish(owner, await makeCrate(name, "1.1.0"));
    expect((await get(indexOf(name), { "If-None-Match": tag })).status).toBe(200);
    expect(await readLines(name)).toMatchObject([{ vers: "1.0.0" }, { vers: "1.1.0" }]);
  });

  it.each(["a", "ab", "abc", "Abcd"])("named %s has its place in the index", async (name) => {
    const user = await make.user();
    await publish(user, await makeCrate(name, "1.0.0"));
    expect((await visit("GET", at(indexOf(name), user))).status).toBe(200);
    expect((await visit("GET", at(`/no/pe/${name}`, user))).status).toBe(404);
  });

  it("keeps its spelling, and no other crate differs from it in case or dashes alone", async () => {
    const name = `${fresh()}-x_y`;
    await publish(owner, await makeCrate(name, "1.0.0"));
    for (const spelling of [name.toUpperCase(), name.replaceAll("_", "-")]) {
      expect((await publish(owner, await makeCrate(spelling, "1.1.0"))).status).toBe(409);
    }
    expect((await get(indexOf(name.replaceAll("_", "-")))).status).toBe(404);
    expect((await get(`/api/v1/crates/${name.replaceAll("_", "-")}/1.0.0/download`)).status).toBe(
      200,
    );
    expect(await readLines(name)).toHaveLength(1);
  });

  it("is there once: a second one is refused, also one that differs in its build alone", async () => {
    const name = fresh();
    await publish(owner, await makeCrate(name, "1.0.0+a"));
    for (const version of ["1.0.0+a", "1.0.0", "1.0.0+b"]) {
      const answer = await publish(
        owner,
        await makeCrate(name, version, { more: { description: "other" } }),
      );
      expect(answer).toMatchObject({
        status: 409,
        body: { errors: [{ detail: expect.any(String) }] },
      });
    }
    await expect.poll(() => looseBlobsSince(looseBefore)).toEqual([]);
    expect(await readLines(name)).toMatchObject([{ vers: "1.0.0+a" }]);
    expect((await get(`/api/v1/crates/${name}/1.0.0+a/download`)).status).toBe(200);
    expect((await get(`/api/v1/crates/${name}/1.0.0/download`)).status).toBe(404);
  });

  it("that three publish at once is published by exactly one", async () => {
    const name = fresh();
    const crate = await makeCrate(name, "1.0.0");
    const answers = await Promise.all([1, 2, 3].map(() => publish(owner, crate)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
  });
});

describe("a publish request", () => {
  const name = "hostile";
  const cases: [string, () => Promise<MadeCrate>][] = [
    ["a name that is none", () => makeCrate("0bad", "1.0.0")],
    ["a long name", () => makeCrate("x".repeat(65), "1.0.0")],
    ["a version that is none", () => makeCrate(name, "x")],
    ["a version with a v", () => makeCrate(name, "v1.0.0")],
    ["a version of two numbers", () => makeCrate(name, "1.0")],
    [
      "a requirement that is none",
      () => makeCrate(name, "1.0.0", { more: { deps: [{ name: "a", version_req: "!!" }] } }),
    ],
    [
      "a dependency without a name",
      () => makeCrate(name, "1.0.0", { more: { deps: [{ version_req: "1" }] } }),
    ],
    [
      "a feature that is none",
      () => makeCrate(name, "1.0.0", { more: { features: { "a b": [] } } }),
    ],
    [
      "features that are no lists",
      () => makeCrate(name, "1.0.0", { more: { features: { a: "b" } } }),
    ],
    ["JSON that is none", async () => ({ ...(await makeCrate(name, "1.0.0")), json: "{" })],
    ["JSON that is no object", async () => ({ ...(await makeCrate(name, "1.0.0")), json: "null" })],
    [
      "a crate that is no archive",
      async () => ({
        ...(await makeCrate(name, "1.0.0")),
        bytes: new TextEncoder().encode("crate"),
      }),
    ],
    [
      "an empty crate",
      async () => ({ ...(await makeCrate(name, "1.0.0")), bytes: new Uint8Array() }),
    ],
    ["another folder", () => makeCrate(name, "1.0.0", { folder: "other-1.0.0" })],
    [
      "a path that leaves the crate",
      () => makeCrate(name, "1.0.0", { entries: [{ path: "hostile-1.0.0/../../x" }] }),
    ],
    [
      "a link",
      () =>
        makeCrate(name, "1.0.0", {
          entries: [{ path: "hostile-1.0.0/x", tar: { type: "symlink", linkname: "y" } }],
        }),
    ],
    [
      "two manifests",
      () => makeCrate(name, "1.0.0", { entries: [{ path: "hostile-1.0.0/Cargo.toml" }] }),
    ],
    [
      "a manifest of another version",
      async () => ({
        ...(await makeCrate(name, "1.0.0", { folder: "hostile-1.1.0" })),
        json: { name, vers: "1.1.0" },
      }),
    ],
    [
      "no manifest",
      async () => ({
        json: { name, vers: "1.0.0" },
        bytes: await makeTarGz([{ path: "hostile-1.0.0/x" }]),
      }),
    ],
    [
      "a manifest that is no TOML",
      async () => ({
        json: { name, vers: "1.0.0" },
        bytes: await makeTarGz([{ path: "hostile-1.0.0/Cargo.toml", content: "[[[[" }]),
      }),
    ],
  ];

  it.each(cases)("with %s is refused, and leaves nothing", async (_, makeOne) => {
    const answer = await publish(owner, await makeOne());
    expect(answer).toMatchObject({
      status: 400,
      body: { errors: [{ detail: expect.any(String) }] },
    });
    expect(await isThere(name)).toBe(false);
    await expect.poll(() => looseBlobsSince(looseBefore)).toEqual([]);
  });

  it("whose lengths do not hold is refused, and leaves nothing", async () => {
    const whole = frame(await makeCrate(name, "1.0.0"));
    const longer = new Uint8Array(whole.length + 1);
    longer.set(whole);
    const huge = whole.slice();
    new DataView(huge.buffer).setUint32(0, 0xffffffff, true);
    for (const body of [
      new Uint8Array(),
      new Uint8Array(2),
      whole.slice(0, 20),
      whole.slice(0, -1),
      longer,
    ]) {
      expect((await publishBody(owner, body)).status).toBe(400);
    }
    expect((await publishBody(owner, huge)).status).toBe(413);
    expect(await isThere(name)).toBe(false);
    await expect.poll(() => looseBlobsSince(looseBefore)).toEqual([]);
  });

  it("by a stranger or by nobody is refused", async () => {
    const body = frame(await makeCrate(name, "1.0.0"));
    expect((await publishBody({ name: owner.name, token: other.token }, body)).status).toBe(401);
    expect((await visit("PUT", at("/api/v1/crates/new"), { body })).status).toBe(401);
    expect(await isThere(name)).toBe(false);
  });

  it("carries a token with or without a scheme", async () => {
    const crate = fresh();
    for (const [version, value] of [
      ["1.0.0", owner.token],
      ["1.0.1", `Bearer ${owner.token}`],
    ] as const) {
      const body = frame(await makeCrate(crate, version));
      const headers = { Authorization: value };
      expect((await visit("PUT", at("/api/v1/crates/new"), { headers, body })).status).toBe(200);
    }
    for (const value of ["wrong", "x".repeat(2000)]) {
      const headers = { Authorization: value };
      expect((await visit("PUT", at("/api/v1/crates/new"), { headers, body: "" })).status).toBe(
        401,
      );
      expect((await get(indexOf(crate), headers)).status).toBe(401);
    }
  });
});

describe("a yanked version", () => {
  it("is marked in the index, and can still be downloaded", async () => {
    const name = fresh();
    await publish(owner, await makeCrate(name, "1.0.0"));
    await publish(owner, await makeCrate(name, "0.9.0"));
    const change = (method: string, path: string, as = owner) =>
      visit(method, at(`/api/v1/crates/${name}/${path}`), { as });
    expect((await change("DELETE", "1.0.0/yank", other)).status).toBe(401);
    expect(await readLines(name)).toMatchObject([{ yanked: false }, { yanked: false }]);
    expect(await change("DELETE", "1.0.0/yank")).toMatchObject({ status: 200, body: { ok: true } });
    expect(await readLines(name)).toMatchObject([{ yanked: true }, { yanked: false }]);
    expect((await get(`/api/v1/crates/${name}/1.0.0/download`)).status).toBe(200);
    const found = await get(`/api/v1/crates?q=${name}`);
    expect(found.body).toMatchObject({ crates: [{ max_version: "0.9.0" }] });
    expect((await change("PUT", "1.0.0/unyank")).status).toBe(200);
    expect(await readLines(name)).toMatchObject([{ yanked: false }, { yanked: false }]);
    expect((await change("DELETE", "9.0.0/yank")).status).toBe(404);
    expect((await change("DELETE", "x/yank")).status).toBe(404);
  });
});

describe("the web API", () => {
  it("searches names", async () => {
    const user = await make.user();
    for (const [name, version] of [
      ["tiny-b", "1.2.0"],
      ["tiny_a", "1.0.0"],
      ["tiny_a", "1.10.0"],
      ["other", "1.0.0"],
    ] as const) {
      await publish(
        user,
        await makeCrate(name, version, { more: { description: `About ${name}` } }),
      );
    }
    const search = async (query: string) =>
      (await visit("GET", at(`/api/v1/crates?${query}`, user))).body;
    expect(await search("q=TINY_")).toEqual({
      crates: [
        { name: "tiny_a", max_version: "1.10.0", description: "About tiny_a" },
        { name: "tiny-b", max_version: "1.2.0", description: "About tiny-b" },
      ],
      meta: { total: 2 },
    });
    expect(await search("q=tiny&per_page=1")).toMatchObject({
      crates: [{ name: "tiny_a" }],
      meta: { total: 2 },
    });
    expect(await search("q=tiny&per_page=1&page=2")).toMatchObject({
      crates: [{ name: "tiny-b" }],
    });
    expect(await search("per_page=100000")).toMatchObject({ meta: { total: 3 } });
    for (const query of ["q=none", "q=tiny&page=9", "q=%25"]) {
      expect(await search(query)).toMatchObject({ crates: [] });
    }
    expect((await search("per_page=x&page=-1")).crates).toHaveLength(3);
  });

  it("shows the owner, who can't be changed", async () => {
    const name = fresh();
    await publish(owner, await makeCrate(name, "1.0.0"));
    const path = at(`/api/v1/crates/${name}/owners`);
    expect((await visit("GET", path)).body).toMatchObject({
      users: [{ id: owner.id, login: owner.name }],
    });
    for (const method of ["PUT", "DELETE"]) {
      const json = { users: [other.name] };
      expect((await visit(method, path, { as: owner, json })).status).toBe(403);
      expect((await visit(method, path, { as: other, json })).status).toBe(401);
    }
    expect((await visit("GET", at("/api/v1/crates/none/owners"))).status).toBe(404);
  });

  it("is configured by the registry", async () => {
    const root = `https://forge.example${at("")}`;
    expect((await get("/config.json")).body).toEqual({
      dl: `${root}/api/v1/crates`,
      api: root,
      "auth-required": false,
    });
  });

  it("of a private owner is for the owner alone", async () => {
    const secret = await make.user({ visibility: "private" });
    await publish(secret, await makeCrate("secret", "1.0.0"));
    for (const path of [
      "/config.json",
      "/se/cr/secret",
      "/api/v1/crates",
      "/api/v1/crates/secret/owners",
      "/api/v1/crates/secret/1.0.0/download",
    ]) {
      const answer = await visit("GET", at(path, secret), { as: secret });
      expect(answer.status).toBe(200);
      expect((await visit("GET", at(path, secret))).status).toBe(401);
      expect((await visit("GET", at(path, secret), { as: other })).status).toBe(404);
    }
    const config = await visit("GET", at("/config.json", secret), { as: secret });
    expect(config.body).toMatchObject({ "auth-required": true });
  });
});
