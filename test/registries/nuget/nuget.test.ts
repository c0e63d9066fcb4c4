import { createHash } from "node:crypto";

import { and, eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { events, packageFiles, packages, packageVersions } from "../../../src/db/schema/index.ts";
import { only } from "../../../src/lib/only.ts";
import { parseXml } from "../../../src/lib/xml.ts";
import { makeZip } from "../../support/archives.ts";
import { answer, basic, visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { makeNupkg, makePdb, nuspecOf } from "../../support/nupkgs.ts";
import { logged } from "../../support/usage.ts";
import { listWholeOrNothing, requestOf } from "../../support/package-faults.ts";
import { listLooseBlobs, looseBlobsSince } from "../../support/loose-blobs.ts";

let owner: TestUser;
let other: TestUser;

beforeAll(async () => {
  [owner, other] = await Promise.all([make.user(), make.user()]);
});

const at = (path: string, user: Pick<TestUser, "name"> = owner): string =>
  `/api/packages/${user.name}/nuget/${path}`;

const push = (bytes: Uint8Array<ArrayBuffer>, as: TestUser = owner, path = "") =>
  visit("PUT", at(path, as), { as, body: bytes });

const get = (path: string, user: TestUser = owner) => visit("GET", at(path, user));

const url = (path: string, user: TestUser): string => `https://forge.example${at(path, user)}`;

const filesOf = (user: TestUser) =>
  db
    .select({ name: packageFiles.name })
    .from(packageFiles)
    .innerJoin(packageVersions, eq(packageVersions.id, packageFiles.versionId))
    .where(eq(packageVersions.ownerId, user.id));

/** A user with some versions of two packages. */
async function makeFeed(): Promise<TestUser> {
  const user = await make.user();
  for (const [id, version, more] of [
    ["Feed.One", "1.0.0", "<tags>alpha, beta</tags>"],
    ["Feed.One", "1.10.0", "<tags>alpha</tags>"],
    ["Feed.One", "1.9.0", ""],
    ["Feed.One", "2.0.0-rc1", ""],
    ["Feed.One", "2.0.0-rc1.2", ""],
    ["Feed.Two", "0.1.0-beta", "<title>Second</title>"],
  ] as const) {
    expect(await push(makeNupkg(id, version, more), user)).toMatchObject({ status: 201 });
  }
  return user;
}

describe("a package", () => {
  it("is published, and shown by the documents of version 3", async () => {
    const user = await make.user();
    const more = `<dependencies>
      <group targetFramework=".NETStandard2.0"><dependency id="Base" version="1.0"/></group>
      <group targetFramework="net6.0"/></dependencies>
      <license type="expression">MIT</license><tags>one two</tags>`;
    const bytes = makeNupkg("My.Package", "1.0", more);
    expect(await push(bytes, user)).toMatchObject({ status: 201 });

    const index = await get("index.json", user);
    expect(index.body.version).toBe("3.0.0");
    const idOf = (type: string): string =>
      index.body.resources.find((each: Record<string, string>) => each["@type"] === type)["@id"];
    expect(idOf("PackageBaseAddress/3.0.0")).toBe(url("package/", user));
    expect(idOf("RegistrationsBaseUrl/3.6.0")).toBe(url("registration/", user));
    expect(idOf("PackagePublish/2.0.0")).toBe(url("", user).slice(0, -1));

    const versions = await get("package/my.package/index.json", user);
    expect(versions.body).toEqual({ versions: ["1.0.0"] });
    const file = await answer(
      new Request(url("package/my.package/1.0.0/my.package.1.0.0.nupkg", user)),
    );
    expect(new Uint8Array(await file.arrayBuffer())).toEqual(bytes);
    const manifest = await get("package/my.package/1.0.0/my.package.nuspec", user);
    expect(manifest.body).toBe(nuspecOf("My.Package", "1.0", more));

    const leaf = url("registration/my.package/1.0.0.json", user);
    const registration = await get("registration/My.Package/index.json", user);
    expect(registration.body).toMatchObject({
      count: 1,
      items: [
        {
          count: 1,
          lower: "1.0.0",
          upper: "1.0.0",
          items: [
            {
              "@id": leaf,
              packageContent: url("package/my.package/1.0.0/my.package.1.0.0.nupkg", user),
              catalogEntry: {
                id: "My.Package",
                version: "1.0.0",
                description: "Says <hello> & more",
                licenseExpression: "MIT",
                listed: true,
                minClientVersion: "2.12",
                tags: ["one", "two"],
                dependencyGroups: [
                  {
                    targetFramework: ".NETStandard2.0",
                    dependencies: [{ id: "Base", range: "[1.0, )" }],
                  },
                  { targetFramework: "net6.0", dependencies: [] },
                ],
              },
            },
          ],
        },
      ],
    });
    expect((await visit("GET", leaf.replace("https://forge.example", ""))).body).toMatchObject({
      "@id": leaf,
      listed: true,
    });
    const recorded = await db.select().from(events).where(eq(events.type, "package.created"));
    expect(recorded.filter(({ ownerId }) => ownerId === user.id)).toMatchObject([
      { payload: { name: "My.Package", version: "1.0.0" } },
    ]);
  });

  it("has pages of its registration once there are many versions", async () => {
    const user = await make.user();
    await push(makeNupkg("Many", "1.0.0"), user);
    const first = only(
      await db.select().from(packageVersions).where(eq(packageVersions.ownerId, user.id)),
    );
    const { id: _, ...row } = first;
    for (let patch = 1; patch < 130; patch++) {
      const version = `1.0.${patch}`;
      await db.insert(packageVersions).values({ ...row, version, versionKey: version });
    }
    const { body } = await get("registration/many/index.json", user);
    expect(body).toMatchObject({ count: 3, items: [{ lower: "1.0.0", upper: "1.0.63" }, {}, {}] });
    expect(body.items[0].items).toBeUndefined();
    const [, page] = body.items;
    const read = await visit("GET", page["@id"].replace("https://forge.example", ""));
    expect(read.body).toMatchObject({ count: 64, lower: "1.0.64", upper: "1.0.127" });
    expect(read.body.items).toHaveLength(64);
    expect(await get("registration/many/page/1.0.1/1.0.2.json", user)).toMatchObject({
      status: 404,
    });
  });

  it.each(["1.0.0", "1.0", "1.0.0.0", "1.0.0+build"])(
    "is there once: %s is refused after 1.0.0",
    async (version) => {
      const user = await make.user();
      expect(await push(makeNupkg("Once", "1.0.0"), user)).toMatchObject({ status: 201 });
      const before = await listLooseBlobs();
      const again = await push(makeNupkg("once", version, "<tags>other</tags>"), user);
      expect(again).toMatchObject({ status: 409 });
      expect(await filesOf(user)).toHaveLength(2);
      await expect.poll(() => looseBlobsSince(before)).toEqual([]);
    },
  );

  it("is published by exactly one of two at once", async () => {
    const user = await make.user();
    const bytes = makeNupkg("Race", "1.0.0");
    const answers = await Promise.all([push(bytes, user), push(bytes, user), push(bytes, user)]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409]);
    expect(await filesOf(user)).toHaveLength(2);
  });

  it("is whole or not there, whichever storage call fails", async () => {
    const bytes = makeNupkg("Faulty", "1.0.0");
    const listed = await listWholeOrNothing(
      (user, serve) => serve(requestOf(user, "PUT", at("", user), bytes)),
      2,
    );
    expect(listed).toEqual([0, 2]);
  }, 120_000);

  it("is taken from a form", async () => {
    const user = await make.user();
    const form = new FormData();
    form.set("note", "first");
    form.set("any", new File([makeNupkg("Form", "1.0.0")], "package.nupkg"));
    expect(await visit("PUT", at("", user), { as: user, body: form })).toMatchObject({
      status: 201,
    });
    expect((await get("package/form/index.json", user)).body).toEqual({ versions: ["1.0.0"] });
    const text = new FormData();
    text.set("package", "no file");
    expect(await visit("PUT", at("", user), { as: user, body: text })).toMatchObject({
      status: 400,
    });
  });

  it("is deleted", async () => {
    const user = await makeFeed();
    const remove = (path: string) => visit("DELETE", at(path, user), { as: user });
    expect(await remove("feed.one/9.9.9")).toMatchObject({ status: 404 });
    expect(await remove("feed.three/1.0.0")).toMatchObject({ status: 404 });
    expect(await remove("feed.one/x")).toMatchObject({ status: 400 });
    expect(await remove("Feed.One/1.10")).toMatchObject({ status: 204 });
    expect(await remove("Feed.One/1.10")).toMatchObject({ status: 404 });
    expect((await get("query?q=one", user)).body.data).toMatchObject([{ version: "1.9.0" }]);
    expect(await remove("feed.two/0.1.0-BETA")).toMatchObject({ status: 204 });
    expect(await get("registration/feed.two/index.json", user)).toMatchObject({ status: 404 });
  });
});

describe("a document", () => {
  it.each([
    ["registration/few/index.json", 2, 0],
    ["registration/few/1.0.0.json", 2, 0],
    ["package/few/index.json", 2, 0],
    ["package/few/1.0.0/few.nuspec", 2, 1],
    ["index.json", 1, 0],
    ["query?q=few", 3, 0],
    ["FindPackagesById()?id='few'", 2, 0],
    ["Packages(Id='few',Version='1.0.0')", 2, 0],
    ["Packages()?$filter=tolower(Id)+eq+'few'", 2, 0],
  ])("takes few rounds of the database: %s", async (path, rounds, streams) => {
    const user = await make.user();
    await push(makeNupkg("Few", "1.0.0"), user);
    const { line } = await logged(() => get(path, user));
    expect(line).toMatchObject({ status: 200, r2Calls: streams });
    // A download is counted after the response.
    expect(line.d1Rounds - streams).toBeLessThanOrEqual(rounds);
  });
});

describe("a search", () => {
  let user: TestUser;
  beforeAll(async () => {
    user = await makeFeed();
  });
  const query = async (parameters: string) => (await get(`query?${parameters}`, user)).body;

  it("finds the newest version that the client asks for", async () => {
    expect(await query("q=FEED")).toMatchObject({
      totalHits: 1,
      data: [
        {
          id: "Feed.One",
          version: "1.10.0",
          versions: [{ version: "1.0.0" }, { version: "1.9.0" }, { version: "1.10.0" }],
          authors: ["A U Thor", "C O Mitter"],
          owners: [user.name],
        },
      ],
    });
    expect(await query("prerelease=true")).toMatchObject({
      totalHits: 2,
      data: [{ version: "2.0.0-rc1" }, { id: "Feed.Two", title: "Second" }],
    });
    expect(await query("prerelease=true&semVerLevel=2.0.0&take=1")).toMatchObject({
      totalHits: 2,
      data: [{ version: "2.0.0-rc1.2" }],
    });
    expect(await query("prerelease=true&skip=1")).toMatchObject({ data: [{ id: "Feed.Two" }] });
  });

  it.each([
    ["q=alpha", 1],
    ["q=alpha+beta", 1],
    ["q=alpha+nothing", 0],
    ["q=second&prerelease=true", 1],
    ["q=%25", 0],
    ["packageType=dependency", 1],
    ["packageType=DotnetTool", 0],
    ["skip=5", 1],
    ["take=0", 1],
    ["skip=-1&take=x", 1],
    [`q=${"a+".repeat(500)}`, 1],
  ])("%s has %i", async (parameters, total) => {
    expect(await query(parameters)).toMatchObject({ totalHits: total });
  });

  it("completes ids and versions", async () => {
    const complete = async (parameters: string) =>
      (await get(`autocomplete?${parameters}`, user)).body;
    expect(await complete("q=feed&prerelease=true")).toEqual({
      totalHits: 2,
      data: ["Feed.One", "Feed.Two"],
    });
    expect(await complete("id=feed.one")).toEqual({ data: ["1.0.0", "1.9.0", "1.10.0"] });
  });
});

describe("version 2 of the protocol", () => {
  let user: TestUser;
  beforeAll(async () => {
    user = await makeFeed();
  });
  const read = async (path: string) => {
    const { status, body } = await get(path, user);
    expect(status, String(body)).toBe(200);
    return (await parseXml(new TextEncoder().encode(body))) ?? expect.fail("no XML");
  };
  const list = async (path: string): Promise<string[]> => {
    const feed = await read(path);
    const entries = feed.children.filter(({ name }) => name === "entry");
    return entries.map((entry) => {
      const properties = entry.children.find(({ name }) => name === "m:properties");
      const text = (name: string) => properties?.children.find((each) => each.name === name)?.text;
      return `${text("d:Id")} ${text("d:Version")}`;
    });
  };

  it("has a service document and a schema", async () => {
    expect((await read("")).name).toBe("service");
    expect((await read("$metadata")).name).toBe("edmx:Edmx");
  });

  it.each<[string, string[]]>([
    ["FindPackagesById()?id='feed.two'", ["Feed.Two 0.1.0-beta"]],
    [
      "FindPackagesById()?id='FEED.ONE'&$orderby=Version",
      ["Feed.One 1.0.0", "Feed.One 1.9.0", "Feed.One 1.10.0", "Feed.One 2.0.0-rc1"],
    ],
    [
      "FindPackagesById()?id='feed.one'&semVerLevel=2.0.0&$orderby=Version+desc&$top=1",
      ["Feed.One 2.0.0-rc1.2"],
    ],
    ["Packages()?$filter=IsLatestVersion", ["Feed.One 1.10.0"]],
    ["Packages?$filter=tolower(Id)+eq+'feed.one'&$orderby=Version&$top=1", ["Feed.One 1.0.0"]],
    ["Packages()?$filter=Id+eq+'Feed.One'&$orderby=Version&$skip=3", ["Feed.One 2.0.0-rc1"]],
    ["Packages()?$filter=Id+eq+'feed.one'", []],
    ["Search()?searchTerm='two'&includePrerelease=false", []],
    ["Search()?searchTerm='two'&includePrerelease=true", ["Feed.Two 0.1.0-beta"]],
    ["Search()?searchTerm='feed'&$filter=IsLatestVersion&$orderby=Id&$top=30", ["Feed.One 1.10.0"]],
  ])("lists %s", async (path, expected) => {
    expect(await list(path)).toEqual(expected);
    const count = path.replace(/^(\w+(?:\(\))?)/, "$1/$count");
    const total = Number((await get(count, user)).body);
    expect(total).toBeGreaterThanOrEqual(expected.length);
  });

  it("links the next page", async () => {
    const feed = await read("Packages()?$top=2&$inlinecount=allpages");
    const link = feed.children.find(({ attributes }) => attributes["rel"] === "next");
    const next = new URL(link?.attributes["href"] ?? "none:");
    expect(next.searchParams.get("$skip")).toBe("2");
    expect(feed.children.find(({ name }) => name === "m:count")?.text).toBe("5");
    const second = await list(`${next.pathname.replace(at("", user), "")}${next.search}`);
    expect(second).toHaveLength(2);
    expect(await list("Packages()?$top=2")).not.toEqual(second);
  });

  it("shows one version", async () => {
    const entry = await read("Packages(Id='feed.one',Version='1.9')");
    const content = entry.children.find(({ name }) => name === "content");
    const source = content?.attributes["src"] ?? "";
    const file = await answer(new Request(source));
    expect(file.status).toBe(200);
    const bytes = new Uint8Array(await file.arrayBuffer());
    const hash = createHash("sha512").update(bytes).digest("base64");
    const properties = entry.children.find(({ name }) => name === "m:properties");
    const text = (name: string) => properties?.children.find((each) => each.name === name)?.text;
    expect(text("d:PackageHash")).toBe(hash);
    expect(text("d:PackageSize")).toBe(String(bytes.length));
    expect(text("d:Description")).toBe("Says <hello> & more");
  });

  it.each([
    "Packages()?$filter=Unknown+eq+1",
    "Packages()?$orderby=Unknown",
    "Packages(Id=1)",
    "Packages(Id='a',Version='x')",
  ])("refuses %s", async (path) => {
    expect(await get(path, user)).toMatchObject({ status: 400 });
  });

  it.each(["Packages(Id='feed.one',Version='9.9')", "Nothing()"])("has no %s", async (path) => {
    expect(await get(path, user)).toMatchObject({ status: 404 });
  });
});

describe("symbols", () => {
  const id = Uint8Array.from({ length: 16 }, (_, index) => index + 1);
  const key = "0403020106050807090a0b0c0d0e0f10ffffffff";
  const types = '<packageTypes><packageType name="SymbolsPackage"/></packageTypes>';
  const makeSymbols = (name = "Sym", pdb = makePdb(id)) =>
    makeNupkg(name, "1.0.0", types, [{ path: "lib/net6.0/Sym.pdb", content: pdb }]);

  it("are found by their id", async () => {
    const user = await make.user();
    const before = await push(makeSymbols(), user, "symbolpackage");
    expect(before).toMatchObject({ status: 404 });
    await push(makeNupkg("Sym", "1.0.0"), user);
    expect(await push(makeSymbols(), user, "symbolpackage")).toMatchObject({ status: 201 });
    const found = await answer(
      new Request(url(`symbols/sym.pdb/${key.toUpperCase()}/Sym.pdb`, user)),
    );
    expect(found.status).toBe(200);
    expect(new Uint8Array(await found.arrayBuffer())).toEqual(makePdb(id));
    const wrong = `${"0".repeat(32)}ffffffff`;
    expect(await get(`symbols/Sym.pdb/${wrong}/Sym.pdb`, user)).toMatchObject({ status: 404 });
    expect(await get(`symbols/Sym.pdb/${key}/Other.pdb`, user)).toMatchObject({ status: 400 });
    expect(await get(`symbols/Sym.pdb/x/Sym.pdb`, user)).toMatchObject({ status: 400 });
    expect(await push(makeSymbols(), user, "symbolpackage")).toMatchObject({ status: 409 });
    expect(await filesOf(user)).toHaveLength(4);
    expect((await get("query?q=", user)).body.totalHits).toBe(1);
  });

  it.each([
    ["no type", () => makeNupkg("Sym", "1.0.0", "", [{ path: "a.pdb", content: makePdb(id) }])],
    ["no symbols", () => makeNupkg("Sym", "1.0.0", types)],
    ["other symbols", () => makeSymbols("Sym", new Uint8Array(100).fill(2))],
  ])("are refused: %s", async (_, bytes) => {
    const user = await make.user();
    await push(makeNupkg("Sym", "1.0.0"), user);
    const before = await listLooseBlobs();
    expect(await push(bytes(), user, "symbolpackage")).toMatchObject({ status: 400 });
    expect(await filesOf(user)).toHaveLength(2);
    await expect.poll(() => looseBlobsSince(before)).toEqual([]);
  });

  it("are whole or not there, whichever storage call fails", async () => {
    const symbols = makeSymbols();
    const listed = await listWholeOrNothing(async (user, serve) => {
      await push(makeNupkg("Sym", "1.0.0"), user);
      return serve(requestOf(user, "PUT", at("symbolpackage", user), symbols));
    }, 4);
    expect(listed).toEqual([2, 4]);
  }, 120_000);

  it("go with their version", async () => {
    const user = await make.user();
    await push(makeNupkg("Sym", "1.0.0"), user);
    await push(makeSymbols(), user, "symbolpackage");
    expect(await visit("DELETE", at("sym/1.0.0", user), { as: user })).toMatchObject({
      status: 204,
    });
    expect(await filesOf(user)).toEqual([]);
    expect(await get(`symbols/Sym.pdb/${key}/Sym.pdb`, user)).toMatchObject({ status: 404 });
  });
});

describe("what is no package", () => {
  const manifest = (text: string) => makeZip([{ path: "a.nuspec", content: text }]);
  const made = (id: string, version: string, more = "") => manifest(nuspecOf(id, version, more));

  it.each<[string, () => Uint8Array<ArrayBuffer>, number]>([
    ["nothing", () => new Uint8Array(), 400],
    ["other bytes", () => new Uint8Array(5000).fill(7), 400],
    ["a part of a package", () => makeNupkg("Bad", "1.0.0").slice(0, 200), 400],
    ["no manifest", () => makeZip([{ path: "lib/a.dll", content: "x" }]), 400],
    ["a manifest in a folder", () => makeZip([{ path: "x/a.nuspec", content: "x" }]), 400],
    ["two manifests", () => makeNupkg("Bad", "1", "", [{ path: "b.nuspec", content: "x" }]), 400],
    ["no XML", () => manifest("text"), 400],
    ["other XML", () => manifest("<a/>"), 400],
    [
      "entities",
      () => manifest(`<!DOCTYPE a [<!ENTITY x "y">]>${nuspecOf("Bad", "1.0").slice(21)}`),
      400,
    ],
    ["a deep manifest", () => manifest(`<package>${"<a>".repeat(5000)}`), 400],
    ["a large manifest", () => manifest(" ".repeat(2e6)), 413],
    ["a path that leaves", () => makeNupkg("Bad", "1", "", [{ path: "../evil" }]), 400],
    [
      "an entry that claims more",
      () => makeNupkg("Bad", "1", "", [{ path: "a", content: "x", claims: { sizeBytes: 5e9 } }]),
      400,
    ],
    ["no id", () => made("", "1.0"), 400],
    ["an id with a slash", () => made("a/b", "1.0"), 400],
    ["an id of dots", () => made("..", "1.0"), 400],
    ["a long id", () => made("a".repeat(101), "1.0"), 400],
    ["no version", () => made("Bad", ""), 400],
    ["a version of words", () => made("Bad", "one"), 400],
    [
      "a dependency without an id",
      () => made("Bad", "1.0", '<dependencies><dependency version="1"/></dependencies>'),
      400,
    ],
    [
      "a dependency on no version",
      () => made("Bad", "1.0", '<dependencies><dependency id="a" version="a:b|c"/></dependencies>'),
      400,
    ],
  ])("is refused: %s", async (_, bytes, status) => {
    const user = await make.user();
    const before = await listLooseBlobs();
    expect(await push(bytes(), user)).toMatchObject({ status });
    expect(await db.select().from(packages).where(eq(packages.ownerId, user.id))).toEqual([]);
    await expect.poll(() => looseBlobsSince(before)).toEqual([]);
  });
});

describe("a key", () => {
  it.each([
    ["X-NuGet-ApiKey", () => ({ "X-NuGet-ApiKey": owner.token })],
    ["Basic", () => basic(owner.name, owner.token)],
    ["Bearer", () => ({ Authorization: `Bearer ${owner.token}` })],
  ])("is taken as %s", async (_, headers) => {
    const body = makeNupkg(freshName("Key").replaceAll("-", "."), "1.0.0");
    const pushed = await visit("PUT", at(""), { headers: headers(), body });
    expect(pushed).toMatchObject({ status: 201 });
  });

  it.each([
    ["none", () => ({})],
    ["a wrong one", () => ({ "X-NuGet-ApiKey": "0".repeat(40) })],
    ["that of another user", () => ({ "X-NuGet-ApiKey": other.token })],
  ])("is needed: %s", async (_, headers) => {
    const id = freshName("Key").replaceAll("-", ".");
    const body = makeNupkg(id, "1.0.0");
    for (const [method, path] of [
      ["PUT", ""],
      ["PUT", "symbolpackage"],
      ["DELETE", "a/1.0.0"],
    ] as const) {
      const refused = await visit(method, at(path), {
        headers: headers(),
        ...(method === "PUT" && { body }),
      });
      expect(refused, `${method} ${path}`).toMatchObject({ status: 401 });
      expect(refused.headers.get("WWW-Authenticate")).toContain("Basic");
    }
    expect(await db.select().from(packages).where(eq(packages.name, id))).toEqual([]);
  });
});

describe("a package that is linked to a private repository", () => {
  it("is hidden with it from every route", async () => {
    const user = await make.user();
    await push(makeNupkg("Shown", "1.0.0"), user);
    await push(makeNupkg("Hidden", "1.0.0"), user);
    const repo = await make.repo(user, { isPrivate: true, visibility: "private" });
    const isHidden = and(eq(packages.ownerId, user.id), eq(packages.name, "Hidden"));
    await db.update(packages).set({ repoId: repo.id }).where(isHidden);
    for (const path of ["query?q=", "autocomplete?q=", "Packages()", "Search()?searchTerm=''"]) {
      const own = await visit("GET", at(path, user), { as: user });
      expect(JSON.stringify(own.body), path).toContain("Hidden");
      const theirs = await visit("GET", at(path, user), { as: other });
      expect(JSON.stringify(theirs.body), path).toContain("Shown");
      expect(JSON.stringify(theirs.body), path).not.toContain("Hidden");
    }
    for (const path of [
      "registration/hidden/index.json",
      "registration/hidden/1.0.0.json",
      "package/hidden/index.json",
      "package/hidden/1.0.0/hidden.1.0.0.nupkg",
      "Packages(Id='Hidden',Version='1.0.0')",
    ]) {
      expect((await visit("GET", at(path, user), { as: user })).status, path).toBe(200);
      expect((await visit("GET", at(path, user), { as: other })).status, path).toBe(404);
    }
  });
});
