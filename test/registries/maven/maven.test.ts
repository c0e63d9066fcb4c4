import { createHash } from "node:crypto";

import { and, eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { packageFiles, packages, packageVersions } from "../../../src/db/schema/index.ts";
import { type Answer, visit } from "../../support/call.ts";
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
  `/api/packages/${user.name}/maven/${path}`;

const put = (path: string, body: string, as: TestUser = owner) =>
  visit("PUT", at(path), { as, body: new TextEncoder().encode(body) });

const get = (path: string) => visit("GET", at(path));

const pomOf = (artifactId: string, version: string, more = "") => `<?xml version="1.0"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId><artifactId>${artifactId}</artifactId><version>${version}</version>
  ${more}
</project>`;

const versionsOf = (artifactId: string) =>
  db
    .select({ version: packageVersions })
    .from(packageVersions)
    .innerJoin(packages, eq(packages.id, packageVersions.packageId))
    .where(and(eq(packages.ownerId, owner.id), eq(packages.name, `org.example:${artifactId}`)))
    .then((rows) => rows.map(({ version }) => version));

const filesOf = (artifactId: string) =>
  db
    .select({ name: packageFiles.name })
    .from(packageFiles)
    .innerJoin(packageVersions, eq(packageVersions.id, packageFiles.versionId))
    .innerJoin(packages, eq(packages.id, packageVersions.packageId))
    .where(and(eq(packages.ownerId, owner.id), eq(packages.name, `org.example:${artifactId}`)))
    .then((rows) => rows.map(({ name }) => name));

/** The elements of a name in an XML text. */
const textsOf = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g"))].map(([, text = ""]) => text);

describe("a file of an artifact", () => {
  it("is published and read by anybody, with each of its checksums", async () => {
    const lib = freshName("lib");
    const path = `org/example/${lib}/1.0/${lib}-1.0.jar`;
    expect(await put(path, "jar")).toMatchObject({ status: 201 });
    const answer = await get(path);
    expect(answer).toMatchObject({ status: 200, body: "jar" });
    expect(answer.headers.get("Content-Type")).toBe("application/java-archive");
    for (const name of ["md5", "sha1", "sha256", "sha512"]) {
      const digest = createHash(name).update("jar").digest("hex");
      expect(await get(`${path}.${name}`)).toMatchObject({ status: 200, body: digest });
    }
    expect((await visit("HEAD", at(path))).headers.get("Content-Length")).toBe("3");
  });

  it("of a release is there once, also of two published at once", async () => {
    const lib = freshName("lib");
    const path = `org/example/${lib}/1.0/${lib}-1.0.jar`;
    const before = await listLooseBlobs();
    const answers = await Promise.all([put(path, "one"), put(path, "two")]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409]);
    const { body } = await get(path);
    expect(await put(path, "three")).toMatchObject({ status: 409 });
    expect((await get(path)).body).toBe(body);
    await expect.poll(() => looseBlobsSince(before), { timeout: 5000 }).toEqual([]);
  });

  it("of a snapshot without a timestamp is replaced, and one with a timestamp is not", async () => {
    const lib = freshName("lib");
    const plain = `org/example/${lib}/1-SNAPSHOT/${lib}-1-SNAPSHOT.jar`;
    const stamped = `org/example/${lib}/1-SNAPSHOT/${lib}-1-20260101.000000-1.jar`;
    expect(await put(plain, "one")).toMatchObject({ status: 201 });
    expect(await put(plain, "two")).toMatchObject({ status: 201 });
    expect((await get(plain)).body).toBe("two");
    expect(await put(stamped, "one")).toMatchObject({ status: 201 });
    expect(await put(stamped, "two")).toMatchObject({ status: 409 });
  });

  it("is compared with the checksums that its publisher sends", async () => {
    const lib = freshName("lib");
    const path = `org/example/${lib}/1.0/${lib}-1.0.jar`;
    await put(path, "jar");
    const sha1 = createHash("sha1").update("jar").digest("hex");
    expect(await put(`${path}.sha1`, `${sha1}  ${lib}-1.0.jar\n`)).toMatchObject({ status: 200 });
    const wrong = await put(`${path}.sha1`, "0".repeat(40));
    expect([wrong.status, wrong.body]).toEqual([400, "hash mismatch\n"]);
    expect(await put(`${path}.md5`, sha1)).toMatchObject({ status: 400 });
    expect(await put(`${path}x.sha1`, sha1)).toMatchObject({ status: 404 });
    expect(await put(`${path}.sha1`, "0".repeat(2000))).toMatchObject({ status: 413 });
    expect(await filesOf(lib)).toEqual([`${lib}-1.0.jar`]);
  });

  it("keeps signatures and Gradle's module metadata as files of their own", async () => {
    const lib = freshName("lib");
    const base = `org/example/${lib}/1.0/${lib}-1.0`;
    for (const ending of [".jar", ".jar.asc", ".module", "-sources.jar"]) {
      expect(await put(base + ending, ending)).toMatchObject({ status: 201 });
    }
    expect(await get(`${base}.jar.asc`)).toMatchObject({ status: 200, body: ".jar.asc" });
    expect(await get(`${base}.jar.asc.sha1`)).toMatchObject({ status: 200 });
  });

  it.each([
    ["no credential", (): TestUser | undefined => undefined],
    ["another user", (): TestUser | undefined => other],
  ] as const)("is not published by %s", async (_, who) => {
    const lib = freshName("lib");
    const as = who();
    for (const path of [
      `org/example/${lib}/1.0/${lib}-1.0.jar`,
      `org/example/${lib}/1.0/${lib}-1.0.jar.sha1`,
      `org/example/${lib}/maven-metadata.xml`,
    ]) {
      const answer = await visit("PUT", at(path), { ...(as && { as }), body: "x" });
      expect(answer.status).toBe(401);
      expect(answer.headers.get("WWW-Authenticate")).toContain("Basic");
    }
    expect(await versionsOf(lib)).toHaveLength(0);
  });

  it.each([
    "a.jar",
    "1.0/a.jar",
    "lib/1.0/a.jar",
    "org.example/lib/1.0/lib-1.0.jar",
    "org/example/lib/1.0/%2e%2e%2fa",
    "org/example/lib/1.0/a%2Fb",
    "org/ex%20ample/lib/1.0/a.jar",
    "org/example/.../1.0/a.jar",
    "org/example/lib/1%3A0/a.jar",
    "org/example/lib/1.0/%ff.jar",
    "org/example/lib/1.0/%00.jar",
    "org/example/lib/1.0/",
  ])("is not published as %s", async (path) => {
    expect(await put(path, "x")).toMatchObject({ status: 400 });
  });

  it("of a private owner is for the owner alone", async () => {
    const secret = await make.user({ visibility: "private" });
    const path = "org/example/secret/1.0/secret-1.0.jar";
    await put(path, "x", owner);
    await visit("PUT", at(path, secret), { as: secret, body: "x" });
    for (const each of [path, `${path}.sha1`, "org/example/secret/maven-metadata.xml"]) {
      const url = at(each, secret);
      expect(await visit("GET", url, { as: secret })).toMatchObject({ status: 200 });
      expect((await visit("GET", url)).status).toBe(401);
      expect((await visit("GET", url, { as: other })).status).toBe(404);
    }
  });

  it(
    "is listed whole or not at all, whichever storage call fails",
    { timeout: 240_000 },
    async () => {
      const outcomes = await listWholeOrNothing((who, serve) => {
        const path = at("org/example/lib/1.0/lib-1.0.jar", who);
        return serve(requestOf(who, "PUT", path, "the whole file"));
      }, 1);
      expect(outcomes).toEqual([0, 1]);
    },
  );

  it("is deleted, and a version by its directory", async () => {
    const lib = freshName("lib");
    const base = `org/example/${lib}/1.0/`;
    await put(`${base}${lib}-1.0.jar`, "jar");
    await put(`${base}${lib}-1.0.zip`, "zip");
    const remove = (path: string, as: TestUser = owner): Promise<Answer> =>
      visit("DELETE", at(path), { as });
    expect(await remove(`${base}${lib}-1.0.zip`, other)).toMatchObject({ status: 401 });
    expect(await remove(`${base}${lib}-1.0.zip`)).toMatchObject({ status: 204 });
    expect(await remove(`${base}${lib}-1.0.zip`)).toMatchObject({ status: 404 });
    expect(await filesOf(lib)).toEqual([`${lib}-1.0.jar`]);
    expect(await remove(`org/example/${lib}/maven-metadata.xml`)).toMatchObject({ status: 400 });
    expect(await remove(base)).toMatchObject({ status: 204 });
    expect(await remove(base)).toMatchObject({ status: 404 });
    expect(await versionsOf(lib)).toHaveLength(0);
    expect((await get(`org/example/${lib}/maven-metadata.xml`)).status).toBe(404);
  });
});

describe("a path that no artifact has", () => {
  // Maven 4 asks which groups a repository has, repository managers for their own indexes. A
  // client ends at any other status than 404, and takes a 200 for the file that it asked for.
  it.each([
    ".meta/prefixes.txt",
    ".meta/prefixes.txt.sha1",
    ".meta/prefixes.txt.md5",
    ".meta/repository-metadata.xml",
    ".index/nexus-maven-repository-index.properties",
    "archetype-catalog.xml",
    "archetype-catalog.xml.sha1",
    "robots.txt",
    "org/example/..%2f..%2flib/1.0/lib-1.0.jar",
    "",
  ])("is not found: %j", async (path) => {
    expect(await get(path)).toMatchObject({ status: 404 });
    expect(await visit("HEAD", at(path))).toMatchObject({ status: 404, body: "" });
  });

  it("is refused to a publisher", async () => {
    for (const path of [".meta/prefixes.txt", ".meta/prefixes.txt.sha1"]) {
      expect(await put(path, "org")).toMatchObject({ status: 400 });
      expect(await get(path)).toMatchObject({ status: 404 });
    }
  });

  it("asks for a credential where the owner is private", async () => {
    const hidden = await make.user({ visibility: "private" });
    const path = at(".meta/prefixes.txt", hidden);
    expect((await visit("GET", path)).status).toBe(401);
    expect((await visit("GET", path, { as: hidden })).status).toBe(404);
    expect((await visit("GET", path, { as: other })).status).toBe(404);
  });
});

describe("a POM", () => {
  it("is what its version is known by, before or after the other files", async () => {
    const lib = freshName("lib");
    const base = `org/example/${lib}/1.0/${lib}-1.0`;
    await put(`${base}.jar`, "jar");
    const more = `<name>A &amp; B</name><description><![CDATA[<b>]]></description>
      <licenses><license><name>MIT</name></license></licenses>
      <dependencies><dependency><groupId>g</groupId><artifactId>a</artifactId><version>2</version>
      </dependency></dependencies>`;
    expect(await put(`${base}.pom`, pomOf(lib, "1.0", more))).toMatchObject({ status: 201 });
    await put(`${base}-sources.jar`, "sources");
    const [version] = await versionsOf(lib);
    expect(version?.metadata).toMatchObject({
      artifactId: lib,
      packaging: "jar",
      name: "A & B",
      description: "<b>",
      licenses: ["MIT"],
      dependencies: [{ groupId: "g", artifactId: "a", version: "2", scope: "compile" }],
    });
    expect((await get(`${base}.pom`)).headers.get("Content-Type")).toContain("xml");
  });

  it("may leave its group and version to its parent, or to expressions", async () => {
    const lib = freshName("lib");
    const parent = `<parent><groupId>org.example</groupId><artifactId>p</artifactId>
      <version>1.0</version></parent>`;
    const pom = `<project>${parent}<artifactId>${lib}</artifactId></project>`;
    expect(await put(`org/example/${lib}/1.0/${lib}-1.0.pom`, pom)).toMatchObject({ status: 201 });
    expect(
      await put(`org/example/${lib}/1.1/${lib}-1.1.pom`, pomOf(lib, "${revision}")),
    ).toMatchObject({ status: 201 });
  });

  const nested = (depth: number) =>
    `<project><artifactId>x</artifactId>${"<a>".repeat(depth)}${"</a>".repeat(depth)}</project>`;

  it.each([
    ["no XML", "not a pom"],
    ["nothing", ""],
    ["an element that does not end", "<project><artifactId>x</artifactId>"],
    ["another document", "<settings/>"],
    ["another artifact", pomOf("another", "1.0")],
    ["another version", pomOf("LIB", "2.0")],
    ["an entity", `<!DOCTYPE p [<!ENTITY e "x">]>${pomOf("LIB", "1.0", "<name>&e;</name>")}`],
    ["an unknown entity", pomOf("LIB", "1.0", "<name>&e;</name>")],
    ["too deep elements", nested(1000)],
    ["too many elements", pomOf("LIB", "1.0", "<a/>".repeat(30_000))],
    [
      "an unknown encoding",
      `<?xml version="1.0" encoding="none"?>${pomOf("LIB", "1.0").slice(21)}`,
    ],
    ["bytes that are not text", "<project>\u{d800}</project>"],
  ])("is refused with %s, and nothing is listed", async (_, text) => {
    const lib = freshName("lib");
    const pom = text.replace("LIB", lib);
    const answer = await put(`org/example/${lib}/1.0/${lib}-1.0.pom`, pom);
    expect(answer.status).toBe(400);
    expect(await versionsOf(lib)).toHaveLength(0);
  });

  it("is refused if it is too large", async () => {
    const lib = freshName("lib");
    const pom = pomOf(lib, "1.0", `<!-- ${"x".repeat(1024 * 1024)} -->`);
    expect((await put(`org/example/${lib}/1.0/${lib}-1.0.pom`, pom)).status).toBe(413);
  });

  it("may be in the encoding that it declares", async () => {
    const lib = freshName("lib");
    const pom = `<?xml version="1.0" encoding="ISO-8859-1"?><project><artifactId>${lib}</artifactId>
      <name>Bl\u00FCte</name></project>`;
    const body = Uint8Array.from(pom, (each) => each.charCodeAt(0));
    const path = at(`org/example/${lib}/1.0/${lib}-1.0.pom`);
    expect(await visit("PUT", path, { as: owner, body })).toMatchObject({ status: 201 });
    expect((await versionsOf(lib))[0]?.metadata).toMatchObject({ name: "Bl\u00FCte" });
  });
});

describe("maven-metadata.xml", () => {
  it("lists the versions of an artifact in Maven's order, with the latest release", async () => {
    const lib = freshName("lib");
    for (const version of ["1.10", "1.9", "2.0-SNAPSHOT", "1.10-rc1"]) {
      await put(`org/example/${lib}/${version}/${lib}-${version}.jar`, version);
    }
    const path = `org/example/${lib}/maven-metadata.xml`;
    const { status, body, headers } = await get(path);
    expect(status).toBe(200);
    expect(textsOf(body, "version")).toEqual(["1.9", "1.10-rc1", "1.10", "2.0-SNAPSHOT"]);
    expect(textsOf(body, "latest")).toEqual(["2.0-SNAPSHOT"]);
    expect(textsOf(body, "release")).toEqual(["1.10"]);
    expect(textsOf(body, "lastUpdated")).toEqual([expect.stringMatching(/^\d{14}$/)]);
    const digest = createHash("sha1").update(body).digest("hex");
    expect(await get(`${path}.sha1`)).toMatchObject({ status: 200, body: digest });
    const tag = headers.get("ETag") ?? "";
    const again = await visit("GET", at(path), { headers: { "If-None-Match": tag } });
    expect(again.status).toBe(304);
    await put(`org/example/${lib}/3/${lib}-3.jar`, "3");
    expect(textsOf((await get(path)).body, "latest")).toEqual(["3"]);
  });

  it("of a snapshot names the newest build and the newest file of each kind", async () => {
    const lib = freshName("lib");
    const base = `org/example/${lib}/1.0-SNAPSHOT/${lib}-1.0-`;
    for (const file of [
      "20260101.000000-1.jar",
      "20260101.000000-1-sources.jar",
      "20260102.000000-2.jar",
      "20260103.000000-10.jar",
      "20260103.000000-10.tar.gz",
    ]) {
      await put(base + file, file);
    }
    const { body } = await get(`org/example/${lib}/1.0-SNAPSHOT/maven-metadata.xml`);
    expect(textsOf(body, "timestamp")).toEqual(["20260103.000000"]);
    expect(textsOf(body, "buildNumber")).toEqual(["10"]);
    expect(textsOf(body, "extension")).toEqual(["jar", "jar", "tar.gz"]);
    expect(textsOf(body, "classifier")).toEqual(["sources"]);
    expect(textsOf(body, "value").toSorted((a, b) => a.localeCompare(b))).toEqual([
      "1.0-20260101.000000-1",
      "1.0-20260103.000000-10",
      "1.0-20260103.000000-10",
    ]);
    expect((await get(`org/example/${lib}/2.0-SNAPSHOT/maven-metadata.xml`)).status).toBe(404);
  });

  it("that a client sends is taken, and what it says of versions is not believed", async () => {
    const lib = freshName("lib");
    await put(`org/example/${lib}/1.0/${lib}-1.0.jar`, "jar");
    const path = `org/example/${lib}/maven-metadata.xml`;
    const lie = "<metadata><versioning><latest>9</latest></versioning></metadata>";
    expect(await put(path, lie)).toMatchObject({ status: 200 });
    expect(await put(`${path}.sha1`, "0")).toMatchObject({ status: 200 });
    expect(await put(path, "no metadata")).toMatchObject({ status: 400 });
    expect(textsOf((await get(path)).body, "latest")).toEqual(["1.0"]);
  });

  it("of a group lists the plugins that are published here", async () => {
    const [group, name] = [freshName("plugins").replaceAll("-", ""), freshName("x-maven-plugin")];
    await put(`org/${group}/${name}/1.0/${name}-1.0.jar`, "jar");
    const path = `org/${group}/maven-metadata.xml`;
    expect((await get(path)).status).toBe(404);
    const entry = (artifact: string, prefix: string) =>
      `<plugin><name>A &lt; B</name><prefix>${prefix}</prefix><artifactId>${artifact}</artifactId></plugin>`;
    const sent = `<metadata><plugins>${entry(name, "x")}${entry("absent", "y")}</plugins></metadata>`;
    expect(await put(path, sent)).toMatchObject({ status: 200 });
    const { body } = await get(path);
    expect(textsOf(body, "prefix")).toEqual(["x"]);
    expect(textsOf(body, "artifactId")).toEqual([name]);
    expect(textsOf(body, "name")).toEqual(["A &lt; B"]);
    await put(path, `<metadata><plugins>${entry(name, "z")}</plugins></metadata>`);
    expect(textsOf((await get(path)).body, "prefix")).toEqual(["z"]);
    await put(path, `<metadata><plugins>${entry(name, "../z")}</plugins></metadata>`);
    expect(textsOf((await get(path)).body, "prefix")).toEqual(["z"]);
  });

  // SECURITY: an artifact that is linked to a private repository is seen with it alone.
  it("does not show an artifact that is linked to a repository which the caller may not see", async () => {
    const lib = freshName("lib");
    const repo = await make.repo(owner, { isPrivate: true });
    const file = `org/example/${lib}/1.0/${lib}-1.0.jar`;
    await put(file, "jar");
    const path = `org/example/${lib}/maven-metadata.xml`;
    expect((await get(path)).status).toBe(200);
    await db
      .update(packages)
      .set({ repoId: repo.id })
      .where(and(eq(packages.ownerId, owner.id), eq(packages.name, `org.example:${lib}`)));
    for (const each of [path, `${path}.sha1`, file, `${file}.sha1`]) {
      expect(await visit("GET", at(each), { as: owner })).toMatchObject({ status: 200 });
      expect((await get(each)).status).toBe(404);
      expect((await visit("GET", at(each), { as: other })).status).toBe(404);
    }
  });
});
