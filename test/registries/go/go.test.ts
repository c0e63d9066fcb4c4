import { eq } from "drizzle-orm";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";

import { packages } from "../../../src/db/schema/index.ts";
import { makeZip, type MadeEntry } from "../../support/archives.ts";
import { visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { listLooseBlobs, looseBlobsSince } from "../../support/loose-blobs.ts";

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
  `/api/packages/${user.name}/go/${path}`;

const get = (path: string, headers: Record<string, string> = {}) =>
  visit("GET", at(path), { headers });

/** The archive of a module. */
function makeModule(
  path: string,
  version: string,
  { goMod = `module ${path}\n\ngo 1.22\n`, entries = [] as readonly MadeEntry[] } = {},
): Uint8Array<ArrayBuffer> {
  const prefix = `${path}@${version}/`;
  return makeZip([
    { path: `${prefix}main.go`, content: "package main\n" },
    ...(goMod === "" ? [] : [{ path: `${prefix}go.mod`, content: goMod }]),
    ...entries,
  ]);
}

const upload = (body: Uint8Array<ArrayBuffer>, as: Pick<TestUser, "name" | "token"> = owner) =>
  visit("PUT", at("upload", as), { as, body });

const fresh = () => `example.com/${freshName("mod").toLowerCase()}`;

const isThere = async (path: string): Promise<boolean> =>
  (await db.select().from(packages).where(eq(packages.name, path))).length > 0;

describe("a module", () => {
  it("is uploaded, and read as of a proxy", async () => {
    const path = fresh();
    const bytes = makeModule(path, "v1.0.0");
    expect((await upload(bytes)).status).toBe(201);
    for (const version of ["v1.10.0", "v1.9.0", "v2.0.0-rc.1+incompatible"]) {
      const goMod = version.endsWith("incompatible") ? { goMod: "" } : {};
      expect((await upload(makeModule(path, version, goMod))).status).toBe(201);
    }
    const list = await get(`${path}/@v/list`);
    expect(list.body).toBe("v1.0.0\nv1.9.0\nv1.10.0\nv2.0.0-rc.1+incompatible\n");
    expect(list.headers.get("Content-Type")).toMatch(/^text\/plain/);
    const info = await get(`${path}/@v/v1.0.0.info`);
    expect(info.body).toEqual({
      Version: "v1.0.0",
      Time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
    expect((await get(`${path}/@v/v1.0.0.mod`)).body).toBe(`module ${path}\n\ngo 1.22\n`);
    const zip = await get(`${path}/@v/v1.0.0.zip`);
    expect(zip.headers.get("Content-Type")).toBe("application/zip");
    expect(zip.headers.get("Content-Length")).toBe(String(bytes.length));
    expect((await get(`${path}/@latest`)).body).toMatchObject({ Version: "v1.10.0" });
    expect((await get(`${path}/@v/v2.0.0-rc.1+incompatible.mod`)).body).toBe(`module ${path}\n`);
    expect((await get(`${path}/@v/v2.0.0-rc.1%2Bincompatible.info`)).status).toBe(200);
  });

  it("has its list sent again only after a change", async () => {
    const path = fresh();
    await upload(makeModule(path, "v1.0.0"));
    const tag = (await get(`${path}/@v/list`)).headers.get("ETag") ?? "";
    expect((await get(`${path}/@v/list`, { "If-None-Match": tag })).status).toBe(304);
    await upload(makeModule(path, "v1.1.0"));
    expect((await get(`${path}/@v/list`, { "If-None-Match": tag })).status).toBe(200);
  });

  it("of a commit is not listed, but is the latest if there is nothing else", async () => {
    const path = fresh();
    const pseudo = "v0.0.0-20240102030405-abcdef123456";
    expect((await upload(makeModule(path, pseudo))).status).toBe(201);
    expect(await get(`${path}/@v/list`)).toMatchObject({ status: 200, body: "" });
    expect((await get(`${path}/@latest`)).body).toMatchObject({ Version: pseudo });
    await upload(makeModule(path, "v0.1.0-beta"));
    expect((await get(`${path}/@latest`)).body).toMatchObject({ Version: "v0.1.0-beta" });
    await upload(makeModule(path, "v0.0.1"));
    expect((await get(`${path}/@latest`)).body).toMatchObject({ Version: "v0.0.1" });
  });

  it("with capitals is asked for with exclamation marks", async () => {
    const path = `${fresh()}/Big-Name`;
    const escaped = path.replace("Big-Name", "!big-!name");
    expect((await upload(makeModule(path, "v1.0.0-RC1"))).status).toBe(201);
    expect((await get(`${escaped}/@v/list`)).body).toBe("v1.0.0-RC1\n");
    expect((await get(`${escaped}/@v/v1.0.0-!r!c1.info`)).status).toBe(200);
    for (const wrong of [path, path.toLowerCase(), `${escaped}!`]) {
      expect((await get(`${wrong}/@v/list`)).status).toBe(404);
    }
  });

  it("of a later major version names it in its path", async () => {
    const path = `${fresh()}/v2`;
    expect((await upload(makeModule(path, "v2.1.0"))).status).toBe(201);
    expect((await upload(makeModule(path, "v1.1.0"))).status).toBe(400);
    expect((await get(`${path}/@v/list`)).body).toBe("v2.1.0\n");
  });

  it("is there once: a second version of its name is refused, and leaves nothing", async () => {
    const path = fresh();
    await upload(makeModule(path, "v1.0.0"));
    const second = makeModule(path, "v1.0.0", { goMod: `module ${path}\n` });
    expect((await upload(second)).status).toBe(409);
    expect((await get(`${path}/@v/v1.0.0.mod`)).body).toContain("go 1.22");
    await expect.poll(() => looseBlobsSince(looseBefore)).toEqual([]);
  });

  it("that three upload at once is uploaded by exactly one", async () => {
    const path = fresh();
    const answers = await Promise.all([1, 2, 3].map(() => upload(makeModule(path, "v1.0.0"))));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409]);
  });

  it("takes its name from a quoted directive or a block as well", async () => {
    for (const form of [
      (path: string) => `// a\nmodule "${path}" // b\n`,
      (path: string) => `module (\n\t${path}\n)\n`,
    ]) {
      const path = fresh();
      expect((await upload(makeModule(path, "v1.0.0", { goMod: form(path) }))).status).toBe(201);
    }
  });
});

describe("an upload", () => {
  const path = "example.com/hostile";
  const prefix = `${path}@v1.0.0/`;
  const withEntry = (entry: MadeEntry) => makeModule(path, "v1.0.0", { entries: [entry] });
  it.each<[string, () => Uint8Array<ArrayBuffer>]>([
    ["nothing", () => new Uint8Array()],
    ["no archive", () => new TextEncoder().encode("not a zip archive, though it is long enough")],
    ["an archive without files", () => makeZip([])],
    ["no folder of a module", () => makeZip([{ path: "main.go" }])],
    ["a path without a domain", () => makeModule("hostile", "v1.0.0")],
    ["a path that starts with a dot", () => makeModule(".example.com/.x", "v1.0.0")],
    ["a path with a device of Windows", () => makeModule("example.com/aux", "v1.0.0")],
    ["a path that names version 1", () => makeModule("example.com/x/v1", "v1.0.0")],
    ["a version that is not canonical", () => makeModule(path, "v1.0")],
    ["a version without a v", () => makeModule(path, "1.0.0")],
    ["a version with build metadata", () => makeModule(path, "v1.0.0+build")],
    ["a later major version", () => makeModule(path, "v2.0.0")],
    ["an incompatible version with a go.mod", () => makeModule(path, "v2.0.0+incompatible")],
    ["an incompatible version 1", () => makeModule(path, "v1.0.0+incompatible", { goMod: "" })],
    [
      "a go.mod of another module",
      () => makeModule(path, "v1.0.0", { goMod: "module example.com/other\n" }),
    ],
    ["a go.mod without a module", () => makeModule(path, "v1.0.0", { goMod: "go 1.22\n" })],
    ["a file outside of the folder", () => withEntry({ path: "other/file" })],
    ["a file of another version", () => withEntry({ path: `${path}@v1.0.1/x` })],
    ["a path that leaves the folder", () => withEntry({ path: `${prefix}../../x` })],
    ["a name that no file has", () => withEntry({ path: `${prefix}a:b` })],
    ["a name that ends in a dot", () => withEntry({ path: `${prefix}a.` })],
    ["names that differ in case", () => withEntry({ path: `${prefix}MAIN.go` })],
    ["a go.mod in a folder", () => withEntry({ path: `${prefix}sub/go.mod` })],
    ["a second go.mod in capitals", () => withEntry({ path: `${prefix}GO.MOD` })],
    ["a link", () => withEntry({ path: `${prefix}x`, content: "/etc", mode: 0o120777 })],
  ])("with %s is refused, and leaves nothing", async (_, makeOne) => {
    const before = await db.select().from(packages);
    expect((await upload(makeOne())).status).toBe(400);
    expect(await db.select().from(packages)).toHaveLength(before.length);
    await expect.poll(() => looseBlobsSince(looseBefore)).toEqual([]);
  });

  // What `go get` prints about such archives.
  it.each<[string, string, string]>([
    [
      "a folder above the module's",
      "example.com/",
      `zip for ${path}@v1.0.0 has unexpected file example.com/`,
    ],
    ["a folder beside it", "other/", `zip for ${path}@v1.0.0 has unexpected file other/`],
    [
      "a folder of another case",
      `${prefix}Sub/`,
      'case-insensitive file name collision: "Sub" and "sub"',
    ],
    [
      "folders of another case",
      `${prefix}SUB/y.go`,
      'case-insensitive file name collision: "sub" and "SUB"',
    ],
    ["a folder with a name that none has", `${prefix}a:b/`, 'malformed file path "a:b"'],
    [
      "a folder that is a file",
      `${prefix}main.go/`,
      'entry "main.go" is both a file and a directory',
    ],
    ["a file in a file", `${prefix}main.go/x.go`, 'entry "main.go" is both a file and a directory'],
    ["a file that is a folder", `${prefix}sub`, 'entry "sub" is both a file and a directory'],
  ])("with %s is refused in go's words", async (_, entry, message) => {
    const entries = [{ path: `${prefix}sub/x.go` }, { path: entry }];
    const answer = await upload(makeModule(path, "v1.0.0", { entries }));
    expect([answer.status, answer.body.trim()]).toEqual([400, message]);
    expect(await isThere(path)).toBe(false);
  });

  it("with folders of the module is taken, as go takes it", async () => {
    const module = fresh();
    const root = `${module}@v1.0.0/`;
    const entries = [root, `${root}sub/`, `${root}empty/`, `${root}sub/x.go`].map((each) => ({
      path: each,
    }));
    expect((await upload(makeModule(module, "v1.0.0", { entries }))).status).toBe(201);
  });

  it("with a large go.mod is refused", async () => {
    const goMod = `module ${path}\n${"// x\n".repeat(200_000)}`;
    expect((await upload(makeModule(path, "v1.0.0", { goMod }))).status).toBe(413);
    expect(await isThere(path)).toBe(false);
  });

  it("by a stranger or by nobody is refused", async () => {
    const body = makeModule(path, "v1.0.0");
    expect((await upload(body, { name: owner.name, token: other.token })).status).toBe(401);
    const answer = await visit("PUT", at("upload"), { body });
    expect(answer.status).toBe(401);
    expect(answer.headers.get("WWW-Authenticate")).toContain("Basic");
    expect(await isThere(path)).toBe(false);
  });
});

describe("a request to the proxy", () => {
  it.each([
    "sumdb/sum.golang.org/supported",
    "example.com/none/@v/list",
    "example.com/none/@latest",
    "x",
    "@v/list",
    "%/@v/list",
    "example.com/none/@v/..%2F..info",
  ])("for %s is not found", async (path) => {
    expect((await get(path)).status).toBe(404);
  });

  it("for a version that does not exist is not found", async () => {
    const path = fresh();
    await upload(makeModule(path, "v1.0.0"));
    for (const name of [
      "v1.0.1.info",
      "v1.0.1.mod",
      "v1.0.1.zip",
      "master.info",
      "v1.0.0.txt",
      "v1.0.0",
    ]) {
      expect((await get(`${path}/@v/${name}`)).status).toBe(404);
    }
  });

  // SECURITY: the package goes with its repository, for every path of the proxy.
  it.each(["linked", "restricted"])("of a module that is hidden is not found: %s", async (how) => {
    const user = await make.user();
    const path = fresh();
    await upload(makeModule(path, "v1.0.0"), user);
    const repo = await make.repo(user, { isPrivate: true, visibility: "private" });
    const hidden = how === "linked" ? { repoId: repo.id } : { isRestricted: true };
    const names = ["@v/list", "@latest", "@v/v1.0.0.info", "@v/v1.0.0.mod", "@v/v1.0.0.zip"];
    for (const name of names) {
      expect((await visit("GET", at(`${path}/${name}`, user))).status).toBe(200);
    }
    await db.update(packages).set(hidden).where(eq(packages.name, path));
    for (const name of names) {
      expect((await visit("GET", at(`${path}/${name}`, user), { as: user })).status).toBe(200);
      expect((await visit("GET", at(`${path}/${name}`, user))).status).toBe(404);
      expect((await visit("GET", at(`${path}/${name}`, user), { as: other })).status).toBe(404);
    }
    const second = await upload(makeModule(path, "v1.1.0"), {
      name: user.name,
      token: other.token,
    });
    expect(second.status).toBe(401);
  });

  it("of a private owner is for the owner alone", async () => {
    const secret = await make.user({ visibility: "private" });
    const path = fresh();
    await upload(makeModule(path, "v1.0.0"), secret);
    for (const name of ["@v/list", "@latest", "@v/v1.0.0.info", "@v/v1.0.0.mod", "@v/v1.0.0.zip"]) {
      expect((await visit("GET", at(`${path}/${name}`, secret), { as: secret })).status).toBe(200);
      expect((await visit("GET", at(`${path}/${name}`, secret))).status).toBe(401);
      expect((await visit("GET", at(`${path}/${name}`, secret), { as: other })).status).toBe(404);
    }
    for (const name of ["x", "sumdb/sum.golang.org/supported"]) {
      expect((await visit("GET", at(name, secret))).status).toBe(401);
    }
  });
});
