import { createHash } from "node:crypto";

import { env } from "cloudflare:workers";
import { and, eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import {
  packageBlobs,
  packageFiles,
  packages,
  packageVersions,
} from "../../../src/db/schema/index.ts";
import { removeLooseBlobs } from "../../../src/domain/packages/package/remove-loose-blobs.ts";
import { sweepImages } from "../../../src/domain/packages/images/sweep-images.ts";
import { digestOf, TestImage } from "../../support/container-images.ts";
import { db } from "../../support/db.ts";
import { failCalls, failing, serveFailing } from "../../support/faults.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { doorsWith } from "../../support/service.ts";
import { listStored } from "../../support/package-faults.ts";
import { systemCtx } from "../../support/system.ts";
import { visit } from "../../support/call.ts";

const MIB = 1024 * 1024;

let owner: TestUser;

beforeAll(async () => {
  owner = await make.user();
});

const makeImage = (name = freshName("image"), as = owner): TestImage =>
  new TestImage(owner, name, as);

const errorOf = ({ body }: { body: { errors: { code: string }[] } }): string | undefined =>
  body.errors[0]?.code;

/** Incompressible bytes, which differ by seed. */
function makeBytes(length: number, seed: number): Uint8Array<ArrayBuffer> {
  const words = new Uint32Array(Math.ceil(length / 4));
  let word = seed * 2_654_435_761 + 1;
  for (let at = 0; at < words.length; at++) {
    word = (Math.imul(word, 1_664_525) + 1_013_904_223) >>> 0;
    words[at] = word;
  }
  return new Uint8Array(words.buffer, 0, length);
}

/** The stored bytes of a blob, by their digest. */
async function storedOf(digest: string): Promise<Uint8Array | undefined> {
  const [blob] = await db
    .select()
    .from(packageBlobs)
    .where(and(eq(packageBlobs.ownerId, owner.id), eq(packageBlobs.sha256, digest.slice(7))));
  const object = blob && (await env.PACKS.get(`packages/${blob.uuid}`));
  return object ? new Uint8Array(await object.arrayBuffer()) : undefined;
}

async function blobOf(content: string) {
  const hex = digestOf(content).slice("sha256:".length);
  const [blob] = await db
    .select()
    .from(packageBlobs)
    .where(and(eq(packageBlobs.ownerId, owner.id), eq(packageBlobs.sha256, hex)));
  return blob;
}

describe("an upload", () => {
  it("is received at once", async () => {
    const image = makeImage();
    const content = freshName("content");
    const done = await image.upload(content);
    expect(done).toMatchObject({ status: 201 });
    const path = `${image.path}/blobs/${digestOf(content)}`;
    expect(done.headers.get("Location")).toBe(path);
    expect(await image.get(path)).toMatchObject({ status: 200, body: content });
  });

  it("is begun, and received by its end", async () => {
    const image = makeImage();
    const content = freshName("content");
    const path = await image.begin();
    const done = await image.request("PUT", `${path}?digest=${digestOf(content)}`, {
      body: content,
    });
    expect(done).toMatchObject({ status: 201 });
    expect((await image.get(`blobs/${digestOf(content)}`)).body).toBe(content);
    expect((await image.get(path)).status).toBe(404);
  });

  it("is received in chunks, each at the end of the last", async () => {
    const image = makeImage();
    const path = await image.begin();
    const chunk = (body: string, range?: string) =>
      image.request("PATCH", path, { body, headers: range ? { "Content-Range": range } : {} });
    const first = await chunk("0123456789", "0-9");
    expect(first).toMatchObject({ status: 202 });
    expect(first.headers.get("Range")).toBe("0-9");
    expect(first.headers.get("Location")).toBe(path);
    for (const wrong of ["0-4", "9-13", "11-15"]) {
      const answered = await chunk("abcde", wrong);
      expect([answered.status, errorOf(answered)]).toEqual([416, "BLOB_UPLOAD_INVALID"]);
      expect(answered.headers.get("Range")).toBe("0-9");
    }
    const short = await chunk("abc", "10-14");
    expect([short.status, errorOf(short)]).toEqual([400, "SIZE_INVALID"]);
    const odd = await chunk("abcde", "ten-fourteen");
    expect([odd.status, errorOf(odd)]).toEqual([400, "BLOB_UPLOAD_INVALID"]);
    expect((await image.get(path)).headers.get("Range")).toBe("0-9");
    await chunk("abcde", "10-14");
    await chunk("fgh");
    const status = await image.get(path);
    expect(status).toMatchObject({ status: 204, body: "" });
    expect(status.headers.get("Range")).toBe("0-17");
    const content = "0123456789abcdefghij";
    const done = await image.request("PUT", `${path}?digest=${digestOf(content)}`, {
      body: "ij",
      headers: { "Content-Range": "18-19" },
    });
    expect(done).toMatchObject({ status: 201 });
    expect((await image.get(`blobs/${digestOf(content)}`)).body).toBe(content);
  });

  // Parts of 8 MiB are sent, and what fills none is kept beside them: chunks that end in a part,
  // and at its end.
  it.each([
    ["that say where they begin", true],
    ["that do not", false],
  ])("is received in chunks of any size %s", async (_, hasRange) => {
    const image = makeImage();
    const path = await image.begin();
    const sizes = [3 * MIB, 5 * MIB, 8 * MIB, 8 * MIB + 1, 1, 9 * MIB - 7];
    const chunks = sizes.map((size, at) => makeBytes(size, at + (hasRange ? 11 : 1)));
    let start = 0;
    for (const chunk of chunks) {
      const range = { "Content-Range": `${start}-${start + chunk.length - 1}` };
      const sent = { body: chunk, ...(hasRange && { headers: range }) };
      expect(await image.request("PATCH", path, sent)).toMatchObject({ status: 202 });
      start += chunk.length;
    }
    const whole = Buffer.concat(chunks);
    const digest = digestOf(whole);
    const done = await image.request("PUT", `${path}?digest=${digest}`);
    expect(done).toMatchObject({ status: 201 });
    expect(digestOf((await storedOf(digest)) ?? "")).toBe(digest);
    const [blob] = await db
      .select()
      .from(packageBlobs)
      .where(eq(packageBlobs.sha256, digest.slice(7)));
    expect(blob).toMatchObject({ sizeBytes: whole.length, md5: "", sha1: "", sha512: "" });
  });

  it("gets its other digests where it comes again by one, or as a file of another package", async () => {
    const image = makeImage();
    const [again, elsewhere] = [freshName("again"), freshName("elsewhere")];
    for (const content of [again, elsewhere]) {
      expect((await image.upload(content)).status).toBe(201);
      expect(await blobOf(content)).toMatchObject({ md5: "", sha1: "", sha512: "" });
    }
    expect((await image.upload(again, digestOf(again, "sha512"))).status).toBe(201);
    const path = `/api/packages/${owner.name}/generic/${freshName("other")}/1/file`;
    const published = await visit("PUT", path, { as: owner, body: elsewhere });
    expect(published.status).toBe(201);
    for (const content of [again, elsewhere]) {
      const hexOf = (name: string) => createHash(name).update(content).digest("hex");
      expect(await blobOf(content)).toMatchObject({
        md5: hexOf("md5"),
        sha1: hexOf("sha1"),
        sha512: hexOf("sha512"),
      });
    }
  });

  it("may be empty", async () => {
    const image = makeImage();
    const path = await image.begin();
    const done = await image.request("PUT", `${path}?digest=${digestOf("")}`);
    expect(done).toMatchObject({ status: 201 });
    const read = await image.get(`blobs/${digestOf("")}`);
    expect(read).toMatchObject({ status: 200, body: "" });
  });

  it("is refused with another digest than its bytes have, and nothing of it stays", async () => {
    const image = makeImage();
    const content = freshName("content");
    const refuse = async (answered: { status: number; body: { errors: { code: string }[] } }) => {
      expect([answered.status, errorOf(answered)]).toEqual([400, "DIGEST_INVALID"]);
      expect(await storedOf(digestOf(content))).toBeUndefined();
      expect((await image.get(`blobs/${digestOf(content)}`)).status).toBe(404);
      expect((await image.get(`blobs/${digestOf("else")}`)).status).toBe(404);
    };
    await refuse(await image.upload(content, digestOf("else")));
    for (const [patched, put] of [
      ["", content],
      [content, ""],
      [content.slice(0, 3), content.slice(3)],
    ] as const) {
      const path = await image.begin();
      if (patched !== "") await image.request("PATCH", path, { body: patched });
      const end = `${path}?digest=${digestOf("else")}`;
      await refuse(await image.request("PUT", end, put === "" ? {} : { body: put }));
      expect((await image.get(path)).status).toBe(404);
    }
    for (const digest of ["", "sha256:x", "md5:abc", digestOf("x").toUpperCase()]) {
      const answered = await image.upload(content, digest);
      expect([answered.status, errorOf(answered)]).toEqual([400, "DIGEST_INVALID"]);
    }
  });

  it("is cancelled", async () => {
    const image = makeImage();
    const path = await image.begin();
    await image.request("PATCH", path, { body: makeBytes(9 * MIB, 1) });
    expect(await image.request("DELETE", path)).toMatchObject({ status: 204 });
    const gone = await image.get(path);
    expect([gone.status, errorOf(gone)]).toEqual([404, "BLOB_UPLOAD_UNKNOWN"]);
    expect((await image.request("DELETE", path)).status).toBe(404);
  });

  it("is its creator's, and its image's", async () => {
    const org = await make.org([owner]);
    const member = await make.user();
    const team = await make.team(org, { access: 2, units: { packages: 2 } });
    await make.member(org, team, member);
    const image = new TestImage(org, "image", owner);
    const path = await image.begin();
    const uuid = path.split("/").at(-1);
    expect((await new TestImage(org, "image", member).get(path)).status).toBe(404);
    expect((await new TestImage(org, "other", owner).get(`blobs/uploads/${uuid}`)).status).toBe(
      404,
    );
    expect((await image.get(path)).status).toBe(204);
    expect((await image.get("blobs/uploads/..%2F..%2Fx")).status).toBe(404);
  });

  it("is refused beyond the limit for files of images", async () => {
    const limited = doorsWith({ PACKAGES_LIMIT_SIZE_CONTAINER: "10" });
    const image = makeImage();
    const send = (method: string, path: string, body: string) =>
      limited(method, path, { as: owner, body });
    const whole = await send(
      "POST",
      `${image.path}/blobs/uploads/?digest=${digestOf("x".repeat(11))}`,
      "x".repeat(11),
    );
    expect([whole.status, errorOf(whole)]).toEqual([403, "DENIED"]);
    const path = await image.begin();
    expect((await send("PATCH", path, "123456")).status).toBe(202);
    expect((await send("PATCH", path, "12345")).status).toBe(403);
    expect((await image.get(path)).headers.get("Range")).toBe("0-5");
    const end = await send("PUT", `${path}?digest=${digestOf("12345612345")}`, "12345");
    expect(end.status).toBe(403);
  });

  it("is refused beyond the owner's limit, and its bytes go", async () => {
    const limited = doorsWith({ PACKAGES_LIMIT_TOTAL_OWNER_SIZE: "5" });
    const poor = await make.user();
    const image = new TestImage(poor, "image", poor);
    const path = await image.begin();
    await image.request("PATCH", path, { body: "123456" });
    const end = await limited("PUT", `${path}?digest=${digestOf("123456")}`, { as: poor });
    expect([end.status, errorOf(end)]).toEqual([403, "DENIED"]);
    const blobs = await db.select().from(packageBlobs).where(eq(packageBlobs.ownerId, poor.id));
    expect(blobs).toEqual([]);
    expect((await image.get(path)).status).toBe(404);
  });

  // Two requests at one place: the second finds that the upload has moved on.
  it("takes one of two chunks at once", async () => {
    const image = makeImage();
    const path = await image.begin();
    const answers = await Promise.all(
      ["left", "rght"].map((body) =>
        image.request("PATCH", path, { body, headers: { "Content-Range": "0-3" } }),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([202, 416]));
    expect((await image.get(path)).headers.get("Range")).toBe("0-3");
  });
});

describe("a blob", () => {
  it("is mounted from an image of the same owner", async () => {
    const [from, to] = [makeImage(), makeImage()];
    const content = freshName("layer");
    await from.upload(content);
    const digest = digestOf(content);
    const name = from.path.slice("/v2/".length);
    const mounted = await to.request("POST", `blobs/uploads/?mount=${digest}&from=${name}`);
    expect(mounted).toMatchObject({ status: 201 });
    expect(mounted.headers.get("Location")).toBe(`${to.path}/blobs/${digest}`);
    expect((await to.get(`blobs/${digest}`)).body).toBe(content);
    const automatic = makeImage();
    expect((await automatic.get(`blobs/${digest}`)).status).toBe(404);
    await automatic.request("POST", `blobs/uploads/?mount=${digest}`);
    expect((await automatic.get(`blobs/${digest}`)).body).toBe(content);
  });

  it.each([
    ["that is not there", (image: string) => image, digestOf("not there")],
    ["of an image that is not there", () => "nowhere", digestOf("layer of another")],
    ["of another owner", () => "", digestOf("layer of another")],
  ])("%s is not mounted, and an upload begins", async (_, fromName, digest) => {
    const stranger = await make.user();
    await new TestImage(stranger, "image", stranger).upload("layer of another");
    const from = makeImage();
    await from.upload("x");
    const name = fromName(from.path.slice("/v2/".length)) || `${stranger.name}/image`;
    const image = makeImage();
    const answered = await image.request("POST", `blobs/uploads/?mount=${digest}&from=${name}`);
    expect(answered).toMatchObject({ status: 202 });
    expect(answered.headers.get("Location")).toContain("/blobs/uploads/");
    expect((await image.get(`blobs/${digest}`)).status).toBe(404);
  });

  // The other image's readers are fewer: what it has is not shown by naming its digest.
  it("is not mounted from an image of a repository that the caller may not see", async () => {
    const org = await make.org([owner]);
    const repo = await make.repo(org, { isPrivate: true, visibility: "private" });
    const writer = await make.user();
    const team = await make.team(org, { access: 0, all: false, units: { packages: 2 } });
    await make.member(org, team, writer);
    const secret = new TestImage(org, "secret", owner);
    const content = freshName("secret");
    await secret.upload(content);
    await db
      .update(packages)
      .set({ repoId: repo.id })
      .where(and(eq(packages.ownerId, org.id), eq(packages.name, "secret")));
    const image = new TestImage(org, "open", writer);
    const digest = digestOf(content);
    for (const from of [`&from=${org.name}/secret`, ""]) {
      const answered = await image.request("POST", `blobs/uploads/?mount=${digest}${from}`);
      expect(answered).toMatchObject({ status: 202 });
      expect((await image.get(`blobs/${digest}`)).status).toBe(404);
    }
    const asOwner = new TestImage(org, "open", owner);
    const mounted = await asOwner.request(
      "POST",
      `blobs/uploads/?mount=${digest}&from=${org.name}/secret`,
    );
    expect(mounted).toMatchObject({ status: 201 });
  });

  it("is deleted unless a manifest names it", async () => {
    const image = makeImage();
    await image.push("v1", { layers: ["named"] });
    await image.upload("not named");
    const remove = (content: string) => image.request("DELETE", `blobs/${digestOf(content)}`);
    expect(await remove("not named")).toMatchObject({ status: 202 });
    const again = await remove("not named");
    expect([again.status, errorOf(again)]).toEqual([404, "BLOB_UNKNOWN"]);
    const named = await remove("named");
    expect([named.status, errorOf(named)]).toEqual([405, "UNSUPPORTED"]);
    expect((await image.get(`blobs/${digestOf("named")}`)).status).toBe(200);
  });
});

describe("storage that fails", () => {
  /** Bytes that no blob refers to, after everything that is due was deleted. */
  async function looseAfterAll(): Promise<string[]> {
    const hour = 60 * 60 * 1000;
    for (let round = 0; round < 3; round++) {
      await sweepImages(systemCtx({}, Date.now() + 48 * hour));
    }
    await removeLooseBlobs(systemCtx({}, Date.now() + 72 * hour));
    const keys = await listStored();
    const uuids = new Set((await db.select().from(packageBlobs)).map(({ uuid }) => uuid));
    return keys.map((key) => key.slice("packages/".length)).filter((uuid) => !uuids.has(uuid));
  }

  /** One request with failing bindings. */
  const request = (
    image: TestImage,
    bindings: Partial<Env>,
    path: string,
    init: { method: string; body?: BodyInit; headers?: Record<string, string> },
  ) =>
    serveFailing(
      new Request(`https://forge.example${path.startsWith("/") ? path : `${image.path}/${path}`}`, {
        ...init,
        headers: { Authorization: `token ${owner.token}`, ...init.headers },
      }),
      bindings,
    ).catch(() => undefined);

  it("leaves a whole blob or none, whichever call of its upload fails", async () => {
    let rounds = 0;
    const most = await failCalls(async (fault) => {
      const image = makeImage();
      const { bindings, calls } = failing(fault);
      const content = makeBytes(9 * MIB, ++rounds + 100);
      const digest = digestOf(content);
      const begun = await request(image, bindings, "blobs/uploads/", { method: "POST" });
      const path = begun?.headers.get("Location");
      if (path) {
        await request(image, bindings, path, { method: "PATCH", body: content });
        await request(image, bindings, `${path}?digest=${digest}`, { method: "PUT" });
      }
      const read = await image.request("HEAD", `blobs/${digest}`);
      const stored = await storedOf(digest);
      expect([read.status, stored && digestOf(stored)]).toEqual(
        stored ? [200, digest] : [404, undefined],
      );
      // Whatever failed, the client can do it again.
      const end = `blobs/uploads/?digest=${digest}`;
      const again = await image.request("POST", end, { body: content });
      expect(again.status).toBe(201);
      return { calls };
    });
    expect(most).toBeGreaterThan(6);
    expect(await looseAfterAll()).toEqual([]);
  }, 180_000);

  it("leaves a whole image or none, whichever call of its manifest fails", async () => {
    const most = await failCalls(async (fault) => {
      const image = makeImage();
      const { bindings, calls } = failing(fault);
      const layer = freshName("layer");
      await image.upload("{}");
      await image.upload(layer);
      const manifest = JSON.stringify({
        schemaVersion: 2,
        config: { mediaType: "application/x", digest: digestOf("{}"), size: 2 },
        layers: [{ mediaType: "application/y", digest: digestOf(layer), size: layer.length }],
      });
      await request(image, bindings, "manifests/v1", {
        method: "PUT",
        body: manifest,
        headers: { "Content-Type": "application/vnd.oci.image.manifest.v1+json" },
      });
      const read = await image.get("manifests/v1");
      const versions = await db
        .select()
        .from(packageFiles)
        .innerJoin(packageVersions, eq(packageVersions.id, packageFiles.versionId))
        .innerJoin(packages, eq(packages.id, packageVersions.packageId))
        .where(
          and(
            eq(packages.ownerId, owner.id),
            eq(packages.name, image.path.split("/")[3] ?? ""),
            eq(packageVersions.isInternal, false),
          ),
        );
      const isThere = read.status === 200;
      expect([versions.length, isThere ? read.body : ""]).toEqual(
        isThere ? [3, manifest] : [0, ""],
      );
      return { calls };
    });
    expect(most).toBeGreaterThan(2);
    expect(await looseAfterAll()).toEqual([]);
  }, 180_000);
});
