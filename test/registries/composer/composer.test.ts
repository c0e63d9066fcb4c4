import { createHash } from "node:crypto";

import { and, eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { packages, packageVersions } from "../../../src/db/schema/index.ts";
import { type MadeEntry, makeTarGz, makeZip } from "../../support/archives.ts";
import { visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { listWholeOrNothing, requestOf } from "../../support/package-faults.ts";
import { listLooseBlobs, looseBlobsSince } from "../../support/loose-blobs.ts";

let owner: TestUser;
let other: TestUser;

beforeAll(async () => {
  [owner, other] = await Promise.all([make.user(), make.user()]);
});

const at = (path: string, user: Pick<TestUser, "name"> = owner): string =>
  `/api/packages/${user.name}/composer${path}`;

const zipOf = (manifest: object, folder = "", ...more: MadeEntry[]): Uint8Array<ArrayBuffer> =>
  makeZip([{ path: `${folder}composer.json`, content: JSON.stringify(manifest) }, ...more]);

const put = (body: BodyInit, query = "", as: TestUser = owner) =>
  visit("PUT", at(`/${query}`), { as, body });

const get = (path: string) => visit("GET", at(path));

const freshPackage = (): string => `acme/${freshName("lib").toLowerCase()}`;

const versionsOf = (name: string) =>
  db
    .select({ version: packageVersions })
    .from(packageVersions)
    .innerJoin(packages, eq(packages.id, packageVersions.packageId))
    .where(and(eq(packages.ownerId, owner.id), eq(packages.name, name)))
    .then((rows) => rows.map(({ version }) => version));

describe("an archive", () => {
  it("is published under the version that its composer.json states", async () => {
    const name = freshPackage();
    const manifest = {
      name,
      version: "v1.2",
      description: "A library",
      require: { php: ">=8.0" },
      autoload: { "psr-4": { "Acme\\": "src/" } },
      suggest: [],
      scripts: { "post-install-cmd": "id" },
      repositories: [],
    };
    const archive = zipOf(manifest, "", { path: "src/a.php", content: "<?php" });
    expect(await put(archive)).toMatchObject({ status: 201 });
    const { status, body } = await get(`/p2/${name}.json`);
    const [version] = body.packages[name];
    const sha1 = createHash("sha1").update(archive).digest("hex");
    expect([status, version]).toEqual([
      200,
      {
        name,
        description: "A library",
        type: "library",
        require: { php: ">=8.0" },
        autoload: { "psr-4": { "Acme\\": "src/" } },
        suggest: {},
        version: "v1.2",
        version_normalized: "1.2.0.0",
        time: expect.stringMatching(/^\d{4}-/),
        dist: { type: "zip", url: expect.any(String), reference: sha1, shasum: sha1 },
      },
    ]);
    const { pathname } = new URL(version.dist.url);
    const file = await visit("GET", pathname);
    expect([file.status, file.headers.get("Content-Length")]).toEqual([
      200,
      String(archive.length),
    ]);
  });

  it.each([
    ["at its root", ""],
    ["in its only folder", "lib-1.0/"],
  ])("may have its composer.json %s", async (_, folder) => {
    const name = freshPackage();
    expect(await put(zipOf({ name }, folder), "?version=1.0")).toMatchObject({ status: 201 });
    expect((await versionsOf(name)).map(({ version }) => version)).toEqual(["1.0"]);
  });

  it("is there once for each version, however it is spelled, also of two published at once", async () => {
    const name = freshPackage();
    const before = await listLooseBlobs();
    const answers = await Promise.all([
      put(zipOf({ name }), "?version=1.0"),
      put(zipOf({ name }), "?version=v1.0.0"),
    ]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409]);
    const again = await put(zipOf({ name: name.toUpperCase() }), "?version=1.0.0.0");
    expect(again).toMatchObject({ status: 409, body: { status: "error", code: 409 } });
    expect(await versionsOf(name)).toHaveLength(1);
    await expect.poll(() => looseBlobsSince(before), { timeout: 5000 }).toEqual([]);
  });

  it.each<[string, () => BodyInit | Promise<BodyInit>, string]>([
    ["nothing", () => "", "?version=1"],
    ["no zip", () => "text", "?version=1"],
    [
      "a tar archive",
      async () => (await makeTarGz([{ path: "composer.json", content: "{}" }])).slice(),
      "?version=1",
    ],
    ["no composer.json", () => makeZip([{ path: "a.php", content: "" }]), "?version=1"],
    [
      "one too deep",
      () => makeZip([{ path: "a/b/composer.json", content: '{"name":"acme/x"}' }]),
      "?version=1",
    ],
    [
      "two folders with one",
      () => zipOf({ name: "acme/x" }, "a/", { path: "b/composer.json", content: "{}" }),
      "?version=1",
    ],
    ["no JSON", () => makeZip([{ path: "composer.json", content: "{" }]), "?version=1"],
    [
      "bytes that are not text",
      () => makeZip([{ path: "composer.json", content: new Uint8Array([255]) }]),
      "?version=1",
    ],
    ["no name", () => zipOf({}), "?version=1"],
    ["a name without a vendor", () => zipOf({ name: "lib" }), "?version=1"],
    ["a name that leaves its folder", () => zipOf({ name: "../lib" }), "?version=1"],
    [
      "a name that takes long to refuse",
      () => zipOf({ name: `${"a".repeat(100)}/${"a".repeat(90)}!` }),
      "?version=1",
    ],
    ["a list for requirements", () => zipOf({ name: "acme/x", require: ["php"] }), "?version=1"],
    ["no version", () => zipOf({ name: "acme/x" }), ""],
    ["a version that is none", () => zipOf({ name: "acme/x" }), "?version=one"],
    [
      "a path that leaves the archive",
      () => zipOf({ name: "acme/x" }, "", { path: "../a" }),
      "?version=1",
    ],
    [
      "a composer.json that claims more than it has",
      () =>
        makeZip([
          { path: "composer.json", content: '{"name":"acme/x"}', claims: { sizeBytes: 5000 } },
        ]),
      "?version=1",
    ],
  ])("is refused with %s, and nothing is listed", async (_, makeBody, query) => {
    const answer = await put(await makeBody(), query);
    expect(answer).toMatchObject({ status: 400, body: { status: "error", code: 400 } });
    expect(await versionsOf("acme/x")).toHaveLength(0);
  });

  it("is refused with a composer.json that is too large", async () => {
    const manifest = { name: "acme/x", description: "x".repeat(1024 * 1024) };
    expect((await put(zipOf(manifest), "?version=1")).status).toBe(413);
    expect(await versionsOf("acme/x")).toHaveLength(0);
  });

  it.each([
    ["no credential", (): TestUser | undefined => undefined],
    ["another user", (): TestUser | undefined => other],
  ] as const)("is not published by %s", async (_, who) => {
    const name = freshPackage();
    const as = who();
    const answer = await visit("PUT", at("/?version=1"), {
      ...(as && { as }),
      body: zipOf({ name }),
    });
    expect(answer.status).toBe(401);
    expect(answer.headers.get("WWW-Authenticate")).toContain("Basic");
    expect(await versionsOf(name)).toHaveLength(0);
  });

  it(
    "is listed whole or not at all, whichever storage call fails",
    { timeout: 240_000 },
    async () => {
      const outcomes = await listWholeOrNothing(
        (who, serve) =>
          serve(requestOf(who, "PUT", at("/?version=1", who), zipOf({ name: "acme/lib" }))),
        1,
      );
      expect(outcomes).toEqual([0, 1]);
    },
  );

  it("is deleted with its version", async () => {
    const name = freshPackage();
    await put(zipOf({ name }), "?version=1.0");
    const path = at(`/packages/${encodeURIComponent(name)}/1.0.0`);
    expect((await visit("DELETE", path, { as: other })).status).toBe(401);
    expect(await visit("DELETE", path, { as: owner })).toMatchObject({ status: 204 });
    expect(await visit("DELETE", path, { as: owner })).toMatchObject({ status: 404 });
    expect((await get(`/p2/${name}.json`)).status).toBe(404);
  });
});

describe("a Composer repository", () => {
  it("says where its files are", async () => {
    const { body } = await get("/packages.json");
    const base = `https://forge.example${at("")}`;
    expect(body).toEqual({
      packages: [],
      "metadata-url": `${base}/p2/%package%.json`,
      list: `${base}/list.json`,
      search: `${base}/search.json?q=%query%&type=%type%`,
    });
  });

  it("lists versions minified, those for developers in a file of their own", async () => {
    const name = freshPackage();
    const first = { name, description: "First", license: "MIT" };
    await put(zipOf(first), "?version=1.0");
    await put(zipOf({ name, description: "Second" }), "?version=1.1");
    await put(zipOf({ name }), "?version=dev-main");
    const { body } = await get(`/p2/${name}.json`);
    expect(body.minified).toBe("composer/2.0");
    const [newest, older] = body.packages[name];
    expect(newest).toMatchObject({ name, version: "1.1", description: "Second" });
    expect(older).toMatchObject({ version: "1.0", description: "First", license: "MIT" });
    expect(older).not.toHaveProperty("name");
    await put(zipOf({ name }), "?version=1.2");
    const again = (await get(`/p2/${name}.json`)).body.packages[name];
    expect(again[1]).toMatchObject({ version: "1.1", description: "Second" });
    const dev = (await get(`/p2/${name}~dev.json`)).body.packages[name];
    expect(dev).toMatchObject([{ version: "dev-main", version_normalized: "dev-main" }]);
  });

  it("unsets in a minified list what an older version does not have", async () => {
    const name = freshPackage();
    await put(zipOf({ name }), "?version=1.0");
    await put(zipOf({ name, license: "MIT" }), "?version=1.1");
    const [, older] = (await get(`/p2/${name}.json`)).body.packages[name];
    expect(older.license).toBe("__unset");
  });

  it("lists names, by a filter too", async () => {
    const lister = await make.user();
    for (const name of ["acme/two", "acme/one", "other/one"]) {
      await put(zipOf({ name }), "?version=1", owner);
      await visit("PUT", at("/?version=1", lister), { as: lister, body: zipOf({ name }) });
    }
    const list = async (filter: string): Promise<unknown> =>
      (await visit("GET", at(`/list.json${filter}`, lister))).body.packageNames;
    expect(await list("")).toEqual(["acme/one", "acme/two", "other/one"]);
    expect(await list("?filter=acme/*")).toEqual(["acme/one", "acme/two"]);
    expect(await list("?filter=*/one")).toEqual(["acme/one", "other/one"]);
    expect(await list("?filter=a*e/*o*")).toEqual(["acme/one", "acme/two"]);
    expect(await list("?filter=acme")).toEqual([]);
  });

  it("is searched by words and type, page by page", async () => {
    const seeker = await make.user();
    for (const [name, type, description] of [
      ["acme/a", "library", "Reads files"],
      ["acme/b", "project", "Reads lines"],
      ["acme/c", undefined, "Writes files"],
    ] as const) {
      const manifest = { name, description, ...(type && { type }) };
      await visit("PUT", at("/?version=1", seeker), { as: seeker, body: zipOf(manifest) });
    }
    const search = async (query: string) =>
      (await visit("GET", at(`/search.json?${query}`, seeker))).body;
    const namesOf = (body: { results: { name: string }[] }) => body.results.map(({ name }) => name);
    expect(namesOf(await search("q="))).toEqual(["acme/a", "acme/b", "acme/c"]);
    expect(namesOf(await search("q=FILES"))).toEqual(["acme/a", "acme/c"]);
    expect(namesOf(await search("q=reads+lines"))).toEqual(["acme/b"]);
    expect(namesOf(await search("q=&type=library"))).toEqual(["acme/a", "acme/c"]);
    const page = await search("q=&per_page=2");
    expect([page.total, namesOf(page)]).toEqual([3, ["acme/a", "acme/b"]]);
    const next = (await visit("GET", page.next.replace("https://forge.example", ""))).body;
    expect([next.total, namesOf(next), next.next]).toEqual([3, ["acme/c"], undefined]);
    expect((await search("q=&page=-1&per_page=100000")).total).toBe(3);
  });

  // SECURITY: a package that is linked to a private repository is seen with it alone.
  it("does not show a package that is linked to a repository which the caller may not see", async () => {
    const name = freshPackage();
    await put(zipOf({ name }), "?version=1.0");
    const { url } = (await get(`/p2/${name}.json`)).body.packages[name][0].dist;
    const repo = await make.repo(owner, { isPrivate: true });
    await db
      .update(packages)
      .set({ repoId: repo.id })
      .where(and(eq(packages.ownerId, owner.id), eq(packages.name, name)));
    for (const path of [at(`/p2/${name}.json`), new URL(url).pathname]) {
      expect((await visit("GET", path, { as: owner })).status).toBe(200);
      expect((await visit("GET", path)).status).toBe(404);
      expect((await visit("GET", path, { as: other })).status).toBe(404);
    }
    for (const path of [at("/list.json"), at(`/search.json?q=${name}`)]) {
      const textFor = async (as?: TestUser) =>
        JSON.stringify((await visit("GET", path, { ...(as && { as }) })).body);
      expect(await textFor(owner)).toContain(name);
      expect(await textFor()).not.toContain(name);
      expect(await textFor(other)).not.toContain(name);
    }
  });

  it("of a private owner is for the owner alone", async () => {
    const secret = await make.user({ visibility: "private" });
    const publish = at("?version=1", secret);
    await visit("PUT", publish, { as: secret, body: zipOf({ name: "acme/secret" }) });
    for (const path of ["/packages.json", "/list.json", "/search.json", "/p2/acme/secret.json"]) {
      const url = at(path, secret);
      expect(await visit("GET", url, { as: secret })).toMatchObject({ status: 200 });
      expect((await visit("GET", url)).status).toBe(401);
      expect((await visit("GET", url, { as: other })).status).toBe(404);
    }
  });
});
