import { gzipSync } from "node:zlib";

import { and, eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { events, packageFiles, packages, packageVersions } from "../../../src/db/schema/index.ts";
import { makeTar, makeTarGz } from "../../support/archives.ts";
import { visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { listLooseBlobs, looseBlobsSince } from "../../support/loose-blobs.ts";
import {
  makePackageTarball,
  makePublication,
  publish,
  registryPath,
  type PublicationFields,
} from "./documents.ts";

let owner: TestUser;
let other: TestUser;

beforeAll(async () => {
  [owner, other] = await Promise.all([make.user(), make.user()]);
});

const rowsOf = (name: string, ofOwner = owner) =>
  db
    .select({ version: packageVersions.version, id: packageVersions.id })
    .from(packageVersions)
    .innerJoin(packages, eq(packages.id, packageVersions.packageId))
    .where(and(eq(packages.ownerId, ofOwner.id), eq(packages.nameKey, name)));

describe("PUT /{name} with a tarball", () => {
  it("publishes the version with its event", async () => {
    const name = freshName("tool");
    const tarball = await makePackageTarball(name, "1.0.0");
    expect(await publish(owner, name, "1.0.0", { tarball })).toMatchObject({
      status: 201,
      body: { ok: true },
    });
    const [row] = await rowsOf(name);
    expect(row).toMatchObject({ version: "1.0.0" });
    const files = await db
      .select()
      .from(packageFiles)
      .where(eq(packageFiles.versionId, row?.id ?? 0));
    expect(files).toMatchObject([{ name: `${name}-1.0.0.tgz`, isLead: true }]);
    const recorded = await db.select().from(events).where(eq(events.type, "package.created"));
    expect(recorded.filter(({ payload }) => payload["name"] === name)).toHaveLength(1);
    const stored = await visit("GET", registryPath(owner, `${name}/-/${name}-1.0.0.tgz`));
    expect(stored).toMatchObject({ status: 200 });
    expect(Number(stored.headers.get("Content-Length"))).toBe(tarball.length);
  });

  it("refuses a version that exists, and keeps the first one", async () => {
    const name = freshName("twice");
    await publish(owner, name, "1.0.0");
    const before = await listLooseBlobs();
    const files = [{ path: "package/more", content: "more" }];
    expect(await publish(owner, name, "1.0.0", { files })).toMatchObject({
      status: 409,
      body: { error: "the version exists already" },
    });
    // npm ignores build metadata when it compares versions.
    expect(await publish(owner, name, "1.0.0+build.2", { files })).toMatchObject({ status: 409 });
    expect(await rowsOf(name)).toHaveLength(1);
    await expect.poll(() => looseBlobsSince(before)).toEqual([]);
    const { body } = await visit("GET", registryPath(owner, name));
    expect(body.versions["1.0.0"].dist.fileCount).toBe(2);
  });

  it("publishes exactly one of two at once", async () => {
    const name = freshName("race");
    const answers = await Promise.all([
      publish(owner, name, "1.0.0", { files: [{ path: "package/a", content: "a" }] }),
      publish(owner, name, "1.0.0", { files: [{ path: "package/b", content: "b" }] }),
    ]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 409]));
    expect(await rowsOf(name)).toHaveLength(1);
  });

  it.each([
    ["no credential", (): TestUser | undefined => undefined],
    ["another user", (): TestUser | undefined => other],
  ])("refuses %s with the challenge, and stores nothing", async (_, who) => {
    const name = freshName("refused");
    const as = who();
    const json = await makePublication(name, "1.0.0");
    const answer = await visit("PUT", registryPath(owner, name), { ...(as && { as }), json });
    expect(answer.status).toBe(401);
    expect(answer.body.error).toBeTypeOf("string");
    expect(answer.headers.get("WWW-Authenticate")).toContain("Basic");
    expect(await rowsOf(name)).toEqual([]);
  });

  it("refuses a token that only reads packages", async () => {
    const name = freshName("refused");
    const token = await make.token(owner, { scopes: "read:package" });
    const json = await makePublication(name, "1.0.0");
    expect(await visit("PUT", registryPath(owner, name), { token, json })).toMatchObject({
      status: 401,
    });
    expect(await rowsOf(name)).toEqual([]);
  });
});

describe("PUT /{name} refuses, and stores nothing of,", () => {
  const bad: [string, (name: string) => Promise<PublicationFields> | PublicationFields, number][] =
    [
      ["a tarball that is not gzip", () => ({ tarball: new TextEncoder().encode("none") }), 400],
      ["gzip that is not tar", () => ({ tarball: new Uint8Array(gzipSync("no tar at all")) }), 400],
      ["an empty tarball", () => ({ tarball: new Uint8Array() }), 400],
      [
        "a tarball that ends early",
        async (name) => ({ tarball: (await makePackageTarball(name, "1.0.0")).slice(0, -20) }),
        400,
      ],
      [
        "a tar that ends early",
        async (name) => {
          const whole = await makeTar([
            { path: "package/package.json", content: JSON.stringify({ name, version: "1.0.0" }) },
          ]);
          return { tarball: new Uint8Array(gzipSync(whole.slice(0, 600))) };
        },
        400,
      ],
      [
        "a tarball without package.json",
        async () => ({ tarball: await makeTarGz([{ path: "package/a", content: "a" }]) }),
        400,
      ],
      [
        "a package.json that is no JSON",
        async () => ({
          tarball: await makeTarGz([{ path: "package/package.json", content: "{" }]),
        }),
        400,
      ],
      [
        "the tarball of another package",
        async () => ({ tarball: await makePackageTarball("another", "1.0.0") }),
        400,
      ],
      [
        "the tarball of another version",
        async (name) => ({ tarball: await makePackageTarball(name, "1.0.1") }),
        400,
      ],
      [
        "a link",
        () => ({
          files: [
            { path: "package/l", tar: { type: "symlink", linkname: "/etc/passwd" } as const },
          ],
        }),
        400,
      ],
      ["a path with ..", () => ({ files: [{ path: "package/../../x", content: "x" }] }), 400],
      ["files outside of the folder", () => ({ files: [{ path: "other/x", content: "x" }] }), 400],
      [
        "a bomb",
        () => ({ files: [{ path: "package/zero", content: new Uint8Array(96 * 1024 * 1024) }] }),
        413,
      ],
      ["a wrong integrity", () => ({ dist: { integrity: `sha512-${"A".repeat(86)}==` } }), 400],
      ["a wrong shasum", () => ({ dist: { shasum: "0".repeat(40) } }), 400],
      ["a document without versions", () => ({ document: { versions: {} } }), 400],
      ["a document of another package", () => ({ document: { name: "another" } }), 400],
      ["a tag that is a range", () => ({ tag: "1.x" }), 400],
      ["a tag that is a version", () => ({ tag: "1.0.0" }), 400],
      ["a tag of another version", () => ({ document: { "dist-tags": { latest: "9.0.0" } } }), 400],
      ["tags that are no object", () => ({ document: { "dist-tags": "latest" } }), 400],
      ["too much metadata", () => ({ manifest: { much: "x".repeat(1024 * 1024) } }), 413],
      [
        "another attachment",
        () => ({ document: { _attachments: { "a.exe": { data: "" } } } }),
        400,
      ],
      ["no tarball", () => ({ document: { _attachments: {} } }), 400],
      [
        "data that is not base64",
        () => ({ document: { _attachments: { "a.tgz": { data: "####" } } } }),
        400,
      ],
      [
        "padding within base64",
        () => ({ document: { _attachments: { "a.tgz": { data: "QQ==QUFB" } } } }),
        400,
      ],
    ];

  it.each(bad)("%s", async (_, fieldsOf, status) => {
    const name = freshName("bad");
    const before = await listLooseBlobs();
    const answer = await publish(owner, name, "1.0.0", await fieldsOf(name));
    expect(answer).toMatchObject({ status, body: { error: expect.any(String) } });
    expect(await rowsOf(name)).toEqual([]);
    await expect.poll(() => looseBlobsSince(before)).toEqual([]);
  });

  it("a length that is not that of the data", async () => {
    const name = freshName("bad");
    const document = await makePublication(name, "1.0.0");
    for (const each of Object.values(document["_attachments"] as Record<string, object>)) {
      Object.assign(each, { length: 1 });
    }
    const answer = await visit("PUT", registryPath(owner, name), { as: owner, json: document });
    expect(answer.status).toBe(400);
    expect(await rowsOf(name)).toEqual([]);
  });

  it("two tarballs", async () => {
    const name = freshName("bad");
    const before = await listLooseBlobs();
    const document = await makePublication(name, "1.0.0");
    const [attachment] = Object.values(document["_attachments"] as object) as object[];
    const json = { ...document, _attachments: { "a.tgz": attachment, "b.tgz": attachment } };
    expect(await visit("PUT", registryPath(owner, name), { as: owner, json })).toMatchObject({
      status: 400,
    });
    expect(await rowsOf(name)).toEqual([]);
    await expect.poll(() => looseBlobsSince(before)).toEqual([]);
  });

  it.each([
    ["nothing", ""],
    ["a text", "nothing"],
    ["a list", "[]"],
    ["half an object", '{"name":'],
    ["an empty object", "{}"],
    ["a deep list", "[".repeat(100_000)],
    ["a deep object", `{"name":${'{"a":'.repeat(5000)}`],
    ["null", "null"],
    ["versions that are null", '{"name":"bad","versions":{"1.0.0":null}}'],
    ["bytes that are not UTF-8", new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d])],
    ["a string without its end", '{"_attachments":{"a.tgz":{"data":"AAAA'],
  ])("%s", async (_, body) => {
    const answer = await visit("PUT", registryPath(owner, "bad"), { as: owner, body });
    expect(answer).toMatchObject({ status: 400, body: { error: expect.any(String) } });
    expect(await rowsOf("bad")).toEqual([]);
  });

  it.each(["one", "1.0", "v1.0.0", "", "1.0.0-01", `1.0.0-${"a".repeat(300)}`])(
    "the version %j",
    async (version) => {
      const name = freshName("bad");
      expect(await publish(owner, name, version)).toMatchObject({ status: 400 });
      expect(await rowsOf(name)).toEqual([]);
    },
  );

  it.each([
    ".bad",
    "_bad",
    "Bad",
    "b%20d",
    "-",
    "node_modules",
    "@s",
    "@/x",
    "@s%2f",
    "@s%2fa%2fb",
  ])("the name %s", async (name) => {
    const json = await makePublication(decodeURIComponent(name), "1.0.0");
    const answer = await visit("PUT", registryPath(owner, name), { as: owner, json });
    expect([400, 404]).toContain(answer.status);
    expect(await rowsOf(decodeURIComponent(name))).toEqual([]);
  });
});
