import { and, eq, like } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import {
  events,
  packageBlobs,
  packageFiles,
  packages,
  packageUploads,
  packageVersions,
} from "../../../src/db/schema/index.ts";
import { sweepImages } from "../../../src/domain/packages/images/sweep-images.ts";
import { db } from "../../support/db.ts";
import {
  describeContent,
  digestOf,
  indexOf,
  manifestOf,
  OCI_INDEX,
  OCI_MANIFEST,
  TestImage,
} from "../../support/container-images.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { systemCtx } from "../../support/system.ts";
import { listLooseBlobs, looseBlobsSince } from "../../support/loose-blobs.ts";

let owner: TestUser;

beforeAll(async () => {
  owner = await make.user();
});

const makeImage = (name = freshName("image"), as = owner): TestImage =>
  new TestImage(owner, name, as);

const nameOf = ({ path }: TestImage): string => path.split("/").slice(3).join("/");

/** The versions of an image by their names. */
async function versionsOf(image: TestImage): Promise<string[]> {
  const rows = await db
    .select({ version: packageVersions.version })
    .from(packageVersions)
    .innerJoin(packages, eq(packages.id, packageVersions.packageId))
    .where(
      and(
        eq(packages.ownerId, owner.id),
        eq(packages.name, nameOf(image)),
        eq(packageVersions.isInternal, false),
      ),
    )
    .orderBy(packageVersions.version);
  return rows.map(({ version }) => version);
}

const blobOf = (content: string) =>
  db
    .select()
    .from(packageBlobs)
    .where(
      and(eq(packageBlobs.ownerId, owner.id), eq(packageBlobs.sha256, digestOf(content).slice(7))),
    );

const errorOf = ({ body }: { body: { errors: { code: string }[] } }): string | undefined =>
  body.errors[0]?.code;

describe("an image", () => {
  it("is published under a tag, and read by tag and digest, by anybody", async () => {
    const image = makeImage(`${freshName("team")}/app/web`);
    const manifest = await image.push("v1.0", { config: '{"a":1}', layers: ["one", "two"] });
    const digest = digestOf(manifest);
    const reader = new TestImage(owner, nameOf(image));
    for (const reference of ["v1.0", digest]) {
      const answer = await reader.get(`manifests/${reference}`);
      expect(answer).toMatchObject({ status: 200, body: manifest });
      expect(answer.headers.get("Content-Type")).toBe(OCI_MANIFEST);
      expect(answer.headers.get("Docker-Content-Digest")).toBe(digest);
      expect(answer.headers.get("ETag")).toBe(`"${digest}"`);
      const head = await reader.request("HEAD", `manifests/${reference}`);
      expect(head).toMatchObject({ status: 200, body: "" });
      expect(head.headers.get("Content-Length")).toBe(String(manifest.length));
    }
    const layer = await reader.get(`blobs/${digestOf("two")}`);
    expect(layer).toMatchObject({ status: 200, body: "two" });
    expect(layer.headers.get("Docker-Distribution-Api-Version")).toBe("registry/2.0");
    const part = await reader.get(`blobs/${digestOf("two")}`, { Range: "bytes=1-" });
    expect(part).toMatchObject({ status: 206, body: "wo" });
    expect(await versionsOf(image)).toEqual(["v1.0"]);
    const recorded = await db
      .select()
      .from(events)
      .where(and(eq(events.type, "package.created"), eq(events.ownerId, owner.id)));
    const ofImage = recorded.filter(({ payload }) => payload["name"] === nameOf(image));
    expect(ofImage.map(({ payload }) => payload["version"])).toEqual(["v1.0"]);
  });

  it.each(["archive", "attachments", "media", "raw", "releases/download"])(
    "may be named like a route of repositories: %s",
    async (name) => {
      const image = makeImage(name);
      const manifest = await image.push("v1");
      const read = await image.get("manifests/v1", { Accept: OCI_MANIFEST });
      expect(read).toMatchObject({ status: 200, body: manifest });
      expect(await image.get("tags/list")).toMatchObject({ status: 200, body: { tags: ["v1"] } });
    },
  );

  it("keeps a manifest under its digest when its tag moves, and changes nothing when it is pushed again", async () => {
    const image = makeImage();
    const first = await image.push("latest", { layers: ["first"] });
    await image.push("latest", { layers: ["first"] });
    expect(await versionsOf(image)).toEqual(["latest"]);
    const second = await image.push("latest", { layers: ["second"] });
    expect(await versionsOf(image)).toEqual(["latest", digestOf(first)]);
    expect((await image.get("manifests/latest")).body).toBe(second);
    expect((await image.get(`manifests/${digestOf(first)}`)).body).toBe(first);
    expect(await image.get("tags/list")).toMatchObject({ body: { tags: ["latest"] } });
    // Back again: the version of the digest is the tag's now.
    await image.push("latest", { layers: ["first"] });
    expect(await versionsOf(image)).toEqual(["latest", digestOf(second)]);
    expect((await image.get("manifests/latest")).body).toBe(first);
    expect((await image.get(`blobs/${digestOf("second")}`)).status).toBe(200);
  });

  it("has no version under the digest of a manifest that has a tag", async () => {
    const image = makeImage();
    const manifest = await image.push("digest");
    expect(await versionsOf(image)).toEqual([digestOf(manifest)]);
    await image.push("a");
    expect(await versionsOf(image)).toEqual(["a"]);
    await image.push("b");
    await image.push("digest");
    expect(await versionsOf(image)).toEqual(["a", "b"]);
    await image.push("b", { layers: ["other"] });
    expect(await versionsOf(image)).toEqual(["a", "b"]);
  });

  it("deletes a tag, and a manifest with all of its tags", async () => {
    const image = makeImage();
    const manifest = await image.push("one", { layers: ["shared", "own"] });
    await image.push("two", { layers: ["shared", "own"] });
    await image.push("other", { layers: ["shared"] });
    const remove = (reference: string) => image.request("DELETE", `manifests/${reference}`);
    expect(await remove("one")).toMatchObject({ status: 202 });
    expect(await remove("one")).toMatchObject({ status: 404 });
    expect((await image.get(`manifests/${digestOf(manifest)}`)).status).toBe(200);
    await image.push("three", { layers: ["shared", "own"] });
    expect(await remove(digestOf(manifest))).toMatchObject({ status: 202 });
    expect(await versionsOf(image)).toEqual(["other"]);
    expect(errorOf(await image.get("manifests/three"))).toBe("MANIFEST_UNKNOWN");
    expect((await image.get(`blobs/${digestOf("shared")}`)).status).toBe(200);
    await remove("other");
    expect(errorOf(await image.get("tags/list"))).toBe("NAME_UNKNOWN");
    expect(await blobOf("own")).toEqual([]);
  });

  it("keeps everything that an index names when its images are deleted", async () => {
    const image = makeImage();
    const manifests = [
      await image.push("digest", { layers: ["amd64"] }),
      await image.push("arm", { layers: ["arm64"] }),
    ];
    const index = indexOf(manifests);
    expect(await image.publish("all", index)).toMatchObject({ status: 201 });
    // An index of an index needs the layers, too.
    const outer = indexOf([index], {
      manifests: [describeContent(index, OCI_INDEX)],
    });
    expect(await image.publish("outer", outer)).toMatchObject({ status: 201 });
    for (const manifest of [...manifests, index]) {
      await image.request("DELETE", `manifests/${digestOf(manifest)}`);
    }
    expect(await versionsOf(image)).toEqual(["outer"]);
    await sweepImages(systemCtx({}, Date.now() + 48 * 60 * 60 * 1000));
    for (const manifest of [...manifests, index]) {
      expect((await image.get(`manifests/${digestOf(manifest)}`)).body).toBe(manifest);
    }
    for (const layer of ["amd64", "arm64"]) {
      expect((await image.get(`blobs/${digestOf(layer)}`)).body).toBe(layer);
    }
  });

  it("is refused if it names what the image does not have, and nothing of it stays", async () => {
    const image = makeImage();
    const other = makeImage();
    const config = freshName("config");
    await other.upload(config);
    await image.upload("layer");
    const before = await listLooseBlobs();
    const manifest = manifestOf(config, ["layer"]);
    const answer = await image.publish("v1", manifest);
    expect(answer).toMatchObject({
      status: 404,
      body: { errors: [{ code: "MANIFEST_BLOB_UNKNOWN", detail: { digest: digestOf(config) } }] },
    });
    expect(await versionsOf(image)).toEqual([]);
    expect(await blobOf(manifest)).toEqual([]);
    await expect.poll(() => looseBlobsSince(before)).toEqual([]);
    const index = indexOf([manifest]);
    expect(errorOf(await image.publish("v1", index))).toBe("MANIFEST_BLOB_UNKNOWN");
    expect(await versionsOf(image)).toEqual([]);
  });

  it("may name layers that clients get from elsewhere", async () => {
    const image = makeImage();
    await image.upload("{}");
    const foreign = describeContent(
      "from elsewhere",
      "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip",
    );
    const manifest = manifestOf("{}", [], { layers: [foreign] });
    expect(await image.publish("v1", manifest)).toMatchObject({ status: 201 });
  });

  it("keeps the blobs that an index names as BuildKit's cache does", async () => {
    const image = makeImage();
    await image.upload("cached layer");
    const index = indexOf([], {
      manifests: [describeContent("cached layer", "application/vnd.oci.image.layer.v1.tar+gzip")],
    });
    expect(await image.publish("cache", index)).toMatchObject({ status: 201 });
    await sweepImages(systemCtx({}, Date.now() + 48 * 60 * 60 * 1000));
    expect((await image.get(`blobs/${digestOf("cached layer")}`)).body).toBe("cached layer");
  });

  it.each([
    ["no JSON", "x", OCI_MANIFEST, "MANIFEST_INVALID"],
    ["no UTF-8", new Uint8Array([0x7b, 0xff, 0x7d]), OCI_MANIFEST, "MANIFEST_INVALID"],
    ["an array", "[]", OCI_MANIFEST, "MANIFEST_INVALID"],
    ["another version", '{"schemaVersion":1}', OCI_MANIFEST, "MANIFEST_INVALID"],
    [
      "two types",
      manifestOf("{}", []),
      "application/vnd.docker.distribution.manifest.v2+json",
      "MANIFEST_INVALID",
    ],
    ["an unknown type", '{"schemaVersion":2}', "application/json", "MANIFEST_INVALID"],
    [
      "an image and an index at once",
      manifestOf("{}", [], { manifests: [] }),
      OCI_MANIFEST,
      "MANIFEST_INVALID",
    ],
    [
      "a digest that is none",
      manifestOf("{}", [], { layers: [{ ...describeContent("x"), digest: "sha256:../x" }] }),
      OCI_MANIFEST,
      "MANIFEST_INVALID",
    ],
    [
      "a size that is none",
      manifestOf("{}", [], { layers: [{ ...describeContent("x"), size: -1 }] }),
      OCI_MANIFEST,
      "MANIFEST_INVALID",
    ],
    [
      "annotations that are no texts",
      manifestOf("{}", [], { annotations: { a: 1 } }),
      OCI_MANIFEST,
      "MANIFEST_INVALID",
    ],
    [
      "more contents than the registry looks for",
      manifestOf("{}", [], {
        layers: Array.from({ length: 5001 }, (_, at) => describeContent(String(at))),
      }),
      OCI_MANIFEST,
      "MANIFEST_INVALID",
    ],
  ])("is refused as a manifest that is %s", async (_, body, type, code) => {
    const image = makeImage();
    await image.upload("{}");
    const answer = await image.request("PUT", "manifests/v1", {
      body,
      headers: { "Content-Type": type },
    });
    expect([answer.status, errorOf(answer)]).toEqual([400, code]);
    expect(await versionsOf(image)).toEqual([]);
  });

  it("is refused beyond 10 MiB of manifest", async () => {
    const image = makeImage();
    const body = " ".repeat(10 * 1024 * 1024 + 1);
    const answer = await image.request("PUT", "manifests/v1", { body });
    expect([answer.status, errorOf(answer)]).toEqual([413, "SIZE_INVALID"]);
    expect(await versionsOf(image)).toEqual([]);
  });

  it("is refused under the digest of something else, and under what is no tag", async () => {
    const image = makeImage();
    await image.push("v1");
    const manifest = manifestOf("{}", ["layer"]);
    const foreign = await image.publish(digestOf("else"), manifest);
    expect([foreign.status, errorOf(foreign)]).toEqual([400, "DIGEST_INVALID"]);
    for (const [reference, code] of [
      ["sha512:abc", "DIGEST_INVALID"],
      [".hidden", "MANIFEST_INVALID"],
      ["a%20b", "MANIFEST_INVALID"],
      ["x".repeat(129), "MANIFEST_INVALID"],
    ] as const) {
      const answer = await image.publish(reference, manifest);
      expect([answer.status, errorOf(answer)]).toEqual([400, code]);
    }
    expect(await versionsOf(image)).toEqual(["v1"]);
  });

  it.each(["UPPER", "-a", "a_", "a..b", "a/..%2Fb", "a___b", "a%00", "a%2F%2Fb", "ä"])(
    "is not published as %s",
    async (name) => {
      const answer = await new TestImage(owner, name, owner).upload("x");
      expect([400, 404]).toContain(answer.status);
      const found = await db
        .select()
        .from(packages)
        .where(and(eq(packages.ownerId, owner.id), eq(packages.name, name)));
      expect(found).toEqual([]);
    },
  );
});

describe("two pushes at once", () => {
  it("of different images to one tag leave both, one of them with the tag", async () => {
    const image = makeImage();
    for (const content of ["{}", "left", "right"]) await image.upload(content);
    const manifests = [manifestOf("{}", ["left"]), manifestOf("{}", ["right"])];
    const answers = await Promise.all(manifests.map((each) => image.publish("v1", each)));
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    const { body: tagged } = await image.get("manifests/v1");
    expect(manifests).toContain(tagged);
    const other = manifests.find((each) => each !== tagged) ?? "";
    expect(await versionsOf(image)).toEqual([digestOf(other), "v1"]);
  });

  it("of one image give it one version", async () => {
    const image = makeImage();
    for (const content of ["{}", "layer"]) await image.upload(content);
    const manifest = manifestOf("{}", ["layer"]);
    const answers = await Promise.all([1, 2].map(() => image.publish("v1", manifest)));
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(await versionsOf(image)).toEqual(["v1"]);
  });

  it("of one blob store it once", async () => {
    const image = makeImage();
    const content = freshName("blob");
    const answers = await Promise.all([1, 2].map(() => image.upload(content)));
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(await blobOf(content)).toHaveLength(1);
    expect((await image.get(`blobs/${digestOf(content)}`)).body).toBe(content);
  });
});

describe("lists", () => {
  it("show tags in order, in pages", async () => {
    const image = makeImage();
    for (const tag of ["b", "a", "C", "1.10", "1.9"]) await image.push(tag);
    await image.push("digest", { layers: ["untagged"] });
    const all = await image.get("tags/list");
    expect(all.body).toEqual({
      name: `${owner.name}/${nameOf(image)}`,
      tags: ["1.10", "1.9", "C", "a", "b"],
    });
    expect(all.headers.get("Link")).toBeNull();
    const pages: string[][] = [];
    for (let path: string | undefined = `${image.path}/tags/list?n=2`; path;) {
      const page = await image.get(path);
      pages.push(page.body.tags);
      path = /^<([^>]*)>; rel="next"$/.exec(page.headers.get("Link") ?? "")?.[1];
    }
    expect(pages).toEqual([["1.10", "1.9"], ["C", "a"], ["b"]]);
    expect((await image.get("tags/list?n=0")).body.tags).toEqual([]);
    expect((await image.get("tags/list?n=99999999")).body.tags).toHaveLength(5);
    expect((await image.get("tags/list?n=1&last=D")).body.tags).toEqual(["a"]);
    expect((await image.get("tags/list?n=-1")).status).toBe(400);
  });

  it("show what refers to a manifest, also to one that does not exist", async () => {
    const image = makeImage();
    const subject = describeContent("a manifest that comes later", OCI_MANIFEST);
    const referrers: string[] = [];
    for (const artifactType of ["application/a", "application/b"]) {
      const annotations = { title: artifactType };
      const manifest = manifestOf("{}", [], { artifactType, subject, annotations });
      await image.upload("{}");
      const answer = await image.publish(digestOf(manifest), manifest);
      expect(answer.headers.get("OCI-Subject")).toBe(subject.digest);
      referrers.push(manifest);
    }
    await image.publish("also-tagged", referrers[0] ?? "");
    const descriptorOf = (manifest: string, artifactType: string) => ({
      ...describeContent(manifest, OCI_MANIFEST),
      artifactType,
      annotations: { title: artifactType },
    });
    const manifests = [
      descriptorOf(referrers[0] ?? "", "application/a"),
      descriptorOf(referrers[1] ?? "", "application/b"),
    ].toSorted((a, b) => (a.digest < b.digest ? -1 : 1));
    const all = await image.get(`referrers/${subject.digest}`);
    expect(all.headers.get("Content-Type")).toBe(OCI_INDEX);
    expect(JSON.parse(all.body)).toEqual({
      schemaVersion: 2,
      mediaType: OCI_INDEX,
      manifests,
    });
    const some = await image.get(`referrers/${subject.digest}?artifactType=application/b`);
    expect(some.headers.get("OCI-Filters-Applied")).toBe("artifactType");
    expect(JSON.parse(some.body).manifests).toMatchObject([{ artifactType: "application/b" }]);
    const none = await image.get(`referrers/${digestOf("nothing")}`);
    expect(JSON.parse(none.body).manifests).toEqual([]);
    expect((await image.get("referrers/sha256:x")).status).toBe(400);
  });

  it("show more than 50 referrers in pages, and take the type of the config for an artifact's", async () => {
    const image = makeImage();
    const subject = describeContent("many", OCI_MANIFEST);
    await image.upload("{}");
    const digests = new Set<string>();
    for (let at = 0; at < 52; at++) {
      const manifest = manifestOf("{}", [], { subject, annotations: { at: String(at) } });
      digests.add(digestOf(manifest));
      await image.publish(digestOf(manifest), manifest);
    }
    const found: { digest: string; artifactType: string }[] = [];
    for (let path: string | undefined = `${image.path}/referrers/${subject.digest}`; path;) {
      const page = await image.get(path);
      found.push(...JSON.parse(page.body).manifests);
      path = /^<([^>]*)>; rel="next"$/.exec(page.headers.get("Link") ?? "")?.[1];
    }
    expect(new Set(found.map(({ digest }) => digest))).toEqual(digests);
    expect(found).toHaveLength(52);
    expect(found[0]?.artifactType).toBe("application/vnd.oci.image.config.v1+json");
  });
});

describe("the schedule", () => {
  const later = () => systemCtx({}, Date.now() + 25 * 60 * 60 * 1000);

  it("takes blobs that no manifest has named for a day, with an image that has nothing else", async () => {
    const image = makeImage();
    const other = makeImage();
    const [lost, kept] = [freshName("lost"), freshName("kept")];
    await image.upload(lost);
    await other.push("v1", { layers: [kept] });
    await other.upload(lost);
    await sweepImages(systemCtx({}, Date.now()));
    expect(await blobOf(lost)).toHaveLength(1);
    await sweepImages(later());
    expect(await blobOf(lost)).toEqual([]);
    expect((await other.get(`blobs/${digestOf(kept)}`)).body).toBe(kept);
    const left = await db
      .select()
      .from(packages)
      .where(and(eq(packages.ownerId, owner.id), eq(packages.name, nameOf(image))));
    expect(left).toEqual([]);
    const held = await db
      .select()
      .from(packageFiles)
      .innerJoin(packageVersions, eq(packageVersions.id, packageFiles.versionId))
      .where(and(eq(packageVersions.ownerId, owner.id), eq(packageVersions.isInternal, true)));
    expect(held).toEqual([]);
  });

  it("ends uploads after a day, and their files fall due", async () => {
    const image = makeImage();
    const path = await image.begin();
    await image.request("PATCH", path, { body: "some bytes" });
    await sweepImages(later());
    const uploads = await db
      .select()
      .from(packageUploads)
      .where(like(packageUploads.uuid, path.split("/").at(-1) ?? ""));
    expect(uploads).toEqual([]);
    expect((await image.request("GET", path)).status).toBe(404);
  });
});
