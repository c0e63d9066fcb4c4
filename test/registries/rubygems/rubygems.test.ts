import { createHash } from "node:crypto";
import { gunzipSync, inflateSync } from "node:zlib";

import { and, eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import {
  events,
  packageFiles,
  packages,
  packageVersions,
  type PackageFile,
} from "../../../src/db/schema/index.ts";
import type { MadeEntry } from "../../support/archives.ts";
import { answer, basic, visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { dependencyLines, gemspecOf, makeGem } from "../../support/gems.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { logged } from "../../support/usage.ts";
import { listWholeOrNothing, requestOf } from "../../support/package-faults.ts";
import { listLooseBlobs, looseBlobsSince } from "../../support/loose-blobs.ts";

let owner: TestUser;
let other: TestUser;

beforeAll(async () => {
  [owner, other] = await Promise.all([make.user(), make.user()]);
});

const at = (path: string, user: Pick<TestUser, "name"> = owner): string =>
  `/api/packages/${user.name}/rubygems/${path}`;

const push = (gem: Uint8Array<ArrayBuffer>, as: TestUser = owner) =>
  visit("POST", at("api/v1/gems", as), { as, body: gem });

const yank = (form: Record<string, string>, as: TestUser = owner) =>
  visit("DELETE", at("api/v1/gems/yank", as), { as, body: String(new URLSearchParams(form)) });

const get = (path: string, headers: Record<string, string> = {}, user = owner) =>
  visit("GET", at(path, user), { headers });

const bytesAt = async (path: string, user = owner): Promise<Uint8Array> => {
  const response = await answer(new Request(`https://forge.example${at(path, user)}`));
  expect(response.status).toBe(200);
  return new Uint8Array(await response.arrayBuffer());
};

const filesOf = async (user: TestUser): Promise<PackageFile[]> => {
  const rows = await db
    .select()
    .from(packageFiles)
    .innerJoin(packageVersions, eq(packageVersions.id, packageFiles.versionId))
    .where(eq(packageVersions.ownerId, user.id));
  return rows.map((row) => row.package_files);
};

const digestOf = (algorithm: string, text: string | Uint8Array): string =>
  createHash(algorithm).update(text).digest("hex");

describe("a gem", () => {
  it("is published, and shown by every index", async () => {
    const user = await make.user();
    const more = `dependencies:
${dependencyLines("rack", "runtime", ">= 2", "< 4")}${dependencyLines("rake", "development", ">= 0")}
required_ruby_version: !ruby/object:Gem::Requirement
  requirements:
  - - ">="
    - !ruby/object:Gem::Version
      version: '2.7'
`;
    const gem = await makeGem("hello", "1.0.0", { more });
    const native = await makeGem("hello", "1.1.0.rc1", { platform: "i686-linux" });
    expect(await push(gem, user)).toMatchObject({ status: 201 });
    expect(await push(native, user)).toMatchObject({ status: 201 });

    const info =
      `---\n1.0.0 rack:>= 2&< 4|checksum:${digestOf("sha256", gem)},ruby:>= 2.7\n` +
      `1.1.0.rc1-x86-linux |checksum:${digestOf("sha256", native)}\n`;
    expect((await get("info/hello", {}, user)).body).toBe(info);
    const [first = ""] = info.split("1.1.0");
    expect((await get("versions", {}, user)).body).toBe(
      `---\nhello 1.0.0 ${digestOf("md5", first)}\n` +
        `hello 1.1.0.rc1-x86-linux ${digestOf("md5", info)}\n`,
    );
    expect((await get("names", {}, user)).body).toBe("---\nhello\n");
    expect(await bytesAt("gems/hello-1.0.0.gem", user)).toEqual(gem);
    expect(await bytesAt("gems/hello-1.1.0.rc1-x86-linux.gem", user)).toEqual(native);
    const specs = new TextDecoder("latin1");
    const listed = async (path: string) => specs.decode(gunzipSync(await bytesAt(path, user)));
    expect(await listed("specs.4.8.gz")).toContain("1.0.0");
    expect(await listed("specs.4.8.gz")).not.toContain("rc1");
    expect(await listed("latest_specs.4.8.gz")).toContain("1.0.0");
    expect(await listed("prerelease_specs.4.8.gz")).toContain("1.1.0.rc1");
    const spec = inflateSync(await bytesAt("quick/Marshal.4.8/hello-1.0.0.gemspec.rz", user));
    expect(specs.decode(spec)).toContain("rack");

    const recorded = await db.select().from(events).where(eq(events.type, "package.created"));
    const own = recorded.filter(({ ownerId }) => ownerId === user.id);
    expect(own.map(({ payload }) => payload["version"])).toEqual(["1.0.0", "1.1.0.rc1"]);
  });

  it("is found by the API", async () => {
    const user = await make.user();
    await push(await makeGem("finder", "1.0"), user);
    await push(await makeGem("finder", "1.10"), user);
    await push(await makeGem("finder", "2.0.a"), user);
    await push(await makeGem("other", "1.0"), user);
    const found = await get("api/v1/search.json?query=FIND", {}, user);
    expect(found.body).toMatchObject([{ name: "finder", version: "1.10", authors: "A U Thor" }]);
    expect((await get("api/v1/search.json?query=", {}, user)).body).toMatchObject([
      { name: "finder" },
      { name: "other" },
    ]);
    expect((await get("api/v1/search.json?query=&page=2", {}, user)).body).toEqual([]);
    expect((await get("api/v1/gems/finder.json", {}, user)).body).toMatchObject({
      version: "1.10",
      licenses: ["MIT"],
      gem_uri: `https://forge.example${at("gems/finder-1.10.gem", user)}`,
    });
    expect((await get("api/v1/versions/finder.json", {}, user)).body).toMatchObject([
      { number: "2.0.a", prerelease: true },
      { number: "1.10" },
      { number: "1.0" },
    ]);
    expect(await get("api/v1/gems/nothing.json", {}, user)).toMatchObject({ status: 404 });
  });

  // Otherwise a client would take either of two gems for the same version.
  it.each(["1.0", "1.0.0", "1"])("is there once: %s is refused after 1.0.0", async (version) => {
    const name = freshName("once");
    const user = await make.user();
    expect(await push(await makeGem(name, "1.0.0"), user)).toMatchObject({ status: 201 });
    const before = await listLooseBlobs();
    const again = await push(await makeGem(name, version, { more: "dependencies: [ ]\n" }), user);
    expect(again).toMatchObject({ status: 409 });
    await expect.poll(() => looseBlobsSince(before)).toEqual([]);
    expect(await filesOf(user)).toHaveLength(1);
    const java = await makeGem(name, version, { platform: "java" });
    expect(await push(java, user)).toMatchObject({ status: 201 });
    const slug = `${name}-${version}-java`;
    expect(await get(`gems/${slug}.gem`, {}, user)).toMatchObject({ status: 200 });
  });

  it("is published by exactly one of two at once", async () => {
    const user = await make.user();
    const gem = await makeGem("race", "1.0");
    const answers = await Promise.all([push(gem, user), push(gem, user), push(gem, user)]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409]);
    expect(await filesOf(user)).toHaveLength(1);
  });

  it("is whole or not there, whichever storage call fails", async () => {
    const gem = await makeGem("faulty", "1.0");
    const listed = await listWholeOrNothing(
      (user, serve) => serve(requestOf(user, "POST", at("api/v1/gems", user), gem)),
      1,
    );
    expect(listed).toEqual([0, 1]);
  }, 120_000);

  it("is yanked with its version and package", async () => {
    const user = await make.user();
    await push(await makeGem("gone", "1.0"), user);
    await push(await makeGem("gone", "1.0", { platform: "java" }), user);
    const form = { gem_name: "gone", version: "1.0" };
    expect(await yank({ ...form, platform: "x86-linux" }, user)).toMatchObject({ status: 404 });
    expect(await yank({ ...form, version: "2" }, user)).toMatchObject({ status: 404 });
    expect(await yank({ ...form, version: "x y" }, user)).toMatchObject({ status: 400 });
    expect(await filesOf(user)).toHaveLength(2);
    expect(await yank({ ...form, platform: "java" }, user)).toMatchObject({ status: 200 });
    expect((await get("info/gone", {}, user)).body).toContain("1.0 |checksum");
    expect(await yank(form, user)).toMatchObject({ status: 200 });
    expect(await get("info/gone", {}, user)).toMatchObject({ status: 404 });
    expect((await get("versions", {}, user)).body).toBe("---\n");
    expect(await db.select().from(packages).where(eq(packages.ownerId, user.id))).toEqual([]);
  });
});

describe("what is no gem", () => {
  const spec = (more: string, name = "bad", version = "1.0", platform = "ruby") =>
    gemspecOf(name, version, platform, more);

  it.each<[string, () => Promise<Uint8Array<ArrayBuffer>> | Uint8Array<ArrayBuffer>, number]>([
    ["nothing", () => new Uint8Array(), 400],
    ["other bytes", () => new Uint8Array(5000).fill(7), 400],
    ["a part of a gem", async () => (await makeGem("bad", "1.0")).slice(0, 1000), 400],
    ["no specification", () => makeGem("bad", "1", { specification: "" }), 400],
    ["a specification that is no gzip", () => entry({ path: "metadata.gz", content: "text" }), 400],
    ["a content that is no gzip", () => entry({ path: "data.tar.gz", content: "text" }), 400],
    ["a wrong digest", () => makeGem("bad", "1", { checksums: wrongDigest() }), 400],
    ["digests of no form", () => makeGem("bad", "1", { checksums: "- x" }), 400],
    ["a path that leaves", () => entry({ path: "../evil", content: "x" }), 400],
    [
      "a link",
      () => entry({ path: "link", tar: { type: "symlink", linkname: "/etc/passwd" } }),
      400,
    ],
    ["too many parts", () => entries(20), 413],
    ["a bomb", () => makeGem("bad", "1", { specification: new Uint8Array(5e7) }), 413],
    ["a deep specification", () => makeGem("bad", "1", { specification: "[".repeat(1e5) }), 400],
    ["aliases of aliases", () => makeGem("bad", "1", { specification: aliases() }), 400],
    ["a name with a slash", () => made(spec("", "a/b")), 400],
    ["a name of dots", () => made(spec("", "..")), 400],
    ["a version with a line break", () => made(spec("", "bad", '"1\\n2"')), 400],
    ["a version of words", () => made(spec("", "bad", "one")), 400],
    ["a platform with a slash", () => made(spec("", "bad", "1", "x86/linux")), 400],
    [
      "a dependency with another line",
      () => made(spec(`dependencies:\n${dependencyLines('"a\\nb 9"', "runtime", ">= 0")}`)),
      400,
    ],
    [
      "a requirement of no version",
      () => made(spec(`dependencies:\n${dependencyLines("a", "runtime", ">= x|y")}`)),
      400,
    ],
  ])("is refused: %s", async (_, gem, status) => {
    const user = await make.user();
    const before = await listLooseBlobs();
    expect(await push(await gem(), user)).toMatchObject({ status });
    expect(await filesOf(user)).toEqual([]);
    expect(await db.select().from(packages).where(eq(packages.ownerId, user.id))).toEqual([]);
    await expect.poll(() => looseBlobsSince(before)).toEqual([]);
  });

  const made = (specification: string) => makeGem("bad", "1.0", { specification });
  const entry = (each: MadeEntry) => makeGem("bad", "1.0", { entries: [each] });
  const entries = (count: number) =>
    makeGem("bad", "1.0", {
      entries: Array.from({ length: count }, (_, index) => ({ path: `part-${index}` })),
    });
  const wrongDigest = () => `SHA256:\n  data.tar.gz: ${"0".repeat(64)}\n`;
  const aliases = () =>
    `a: &a [x, x, x, x, x, x, x, x, x]\n` +
    Array.from("bcdefghij", (letter, index) => {
      const above = "abcdefghij"[index] ?? "";
      return `${letter}: &${letter} [${`*${above}, `.repeat(9)}x]\n`;
    }).join("");
});

describe("the root", () => {
  // By this, RubyGems chooses the compact index.
  it("answers for everybody who sees the owner", async () => {
    for (const path of ["", "/"]) {
      const root = `/api/packages/${owner.name}/rubygems${path}`;
      expect(await visit("HEAD", root)).toMatchObject({ status: 200, body: "" });
      expect(await visit("GET", root)).toMatchObject({ status: 200 });
    }
    const hidden = await make.user({ visibility: "private" });
    expect(await visit("HEAD", at("", hidden))).toMatchObject({ status: 401 });
    expect(await visit("HEAD", at("", hidden), { as: other })).toMatchObject({ status: 404 });
    expect(await visit("HEAD", at("", hidden), { as: hidden })).toMatchObject({ status: 200 });
  });
});

describe("an index", () => {
  it("is sent in parts, with the digests that clients compare", async () => {
    const user = await make.user();
    await push(await makeGem("one", "1.0"), user);
    const before = await get("versions", {}, user);
    const tag = before.headers.get("ETag");
    expect(tag).toBe(`"${digestOf("md5", before.body)}"`);
    const digest = createHash("sha256").update(before.body).digest("base64");
    expect(before.headers.get("Repr-Digest")).toBe(`sha-256=:${digest}:`);
    const same = await get("versions", { "If-None-Match": tag ?? "" }, user);
    expect(same).toMatchObject({ status: 304 });
    await push(await makeGem("two", "1.0"), user);
    const headers = {
      "If-None-Match": tag ?? "",
      Range: `bytes=${before.body.length - 1}-`,
    };
    const added = await get("versions", headers, user);
    expect(added).toMatchObject({ status: 206 });
    const whole = await get("versions", {}, user);
    expect(before.body + added.body.slice(1)).toBe(whole.body);
    const head = await visit("HEAD", at("versions", user));
    expect(head).toMatchObject({ status: 200, body: "" });
    expect(await visit("HEAD", at("specs.4.8.gz", user))).toMatchObject({ status: 200 });
  });

  it.each(["versions", "names", "specs.4.8.gz", "info/few"])(
    "takes two rounds of the database, and one once it is kept: %s",
    async (path) => {
      const user = await make.user();
      await push(await makeGem("few", "1.0"), user);
      const { line } = await logged(() => get(path, {}, user));
      expect(line).toMatchObject({ status: 200, d1Rounds: 2 });
      const { line: again } = await logged(() => get(path, {}, user));
      expect(again).toMatchObject({ status: 200, d1Rounds: 1, r2Calls: 0 });
    },
  );

  it("of no gems is empty", async () => {
    const user = await make.user();
    expect((await get("versions", {}, user)).body).toBe("---\n");
    expect((await get("names", {}, user)).body).toBe("---\n");
    expect(gunzipSync(await bytesAt("specs.4.8.gz", user))).toHaveLength(4);
  });

  it("hides a gem with the repository that it is linked to", async () => {
    const user = await make.user();
    await push(await makeGem("shown", "1.0"), user);
    await push(await makeGem("hidden", "1.0"), user);
    const repo = await make.repo(user, { isPrivate: true, visibility: "private" });
    const isHidden = and(eq(packages.ownerId, user.id), eq(packages.name, "hidden"));
    await db.update(packages).set({ repoId: repo.id }).where(isHidden);
    for (const path of ["versions", "names", "api/v1/search.json?query="]) {
      const own = await visit("GET", at(path, user), { as: user });
      expect(JSON.stringify(own.body), path).toContain("hidden");
      const theirs = await visit("GET", at(path, user), { as: other });
      expect(JSON.stringify(theirs.body), path).toContain("shown");
      expect(JSON.stringify(theirs.body), path).not.toContain("hidden");
    }
    for (const path of ["info/hidden", "gems/hidden-1.0.gem", "api/v1/gems/hidden.json"]) {
      expect((await visit("GET", at(path, user), { as: user })).status, path).toBe(200);
      expect((await visit("GET", at(path, user), { as: other })).status, path).toBe(404);
    }
  });
});

describe("a key", () => {
  it.each([
    ["the token alone", () => owner.token],
    ["Bearer", () => `Bearer ${owner.token}`],
    ["token", () => `token ${owner.token}`],
    ["Basic", () => basic(owner.name, owner.token)["Authorization"] ?? ""],
  ])("is taken as %s", async (_, header) => {
    const body = await makeGem(freshName("key"), "1.0");
    const headers = { Authorization: header() };
    expect(await visit("POST", at("api/v1/gems"), { headers, body })).toMatchObject({
      status: 201,
    });
  });

  it.each([
    ["none", () => ({})],
    ["a wrong one", () => ({ Authorization: "0".repeat(40) })],
    ["that of another user", () => ({ Authorization: other.token })],
  ])("is needed: %s", async (_, headers) => {
    const name = freshName("key");
    const body = await makeGem(name, "1.0");
    const pushed = await visit("POST", at("api/v1/gems"), { headers: headers(), body });
    expect(pushed).toMatchObject({ status: 401 });
    expect(pushed.headers.get("WWW-Authenticate")).toContain("Basic");
    const form = String(new URLSearchParams({ gem_name: name, version: "1.0" }));
    const yanked = await visit("DELETE", at("api/v1/gems/yank"), {
      headers: headers(),
      body: form,
    });
    expect(yanked).toMatchObject({ status: 401 });
    expect(await db.select().from(packages).where(eq(packages.name, name))).toEqual([]);
  });
});

describe("a path of no gem", () => {
  it.each([
    "gems/nothing-1.0.gem",
    "gems/nothing.gem",
    `gems/${"a-1".repeat(500)}.gem`,
    "quick/Marshal.4.8/nothing-1.0.gemspec.rz",
    "info/nothing",
    "gems/..%2F1.0.gem",
  ])("is 404 or 400: %s", async (path) => {
    expect([400, 404]).toContain((await get(path)).status);
  });
});
