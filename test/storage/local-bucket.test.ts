import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";

import { formatHex } from "../../src/lib/hex.ts";
import { readPieces } from "../../src/lib/read-pieces.ts";

/** Miniflare's simulator of R2, and the local bucket of `npm start`, which must do the same. */
const simulator = env.COMPARED_BUCKET;
const local = env.COMPARED_LOCAL_BUCKET;

/** Least size of a part but the last, in bytes. */
const PART_BYTES = 5 * 1024 * 1024;
const TAIL_BYTES = 1000;

/** Bytes that differ everywhere, so that a wrong offset shows. */
function makeBytes(length: number, seed: number): Uint8Array<ArrayBuffer> {
  const words = new Uint32Array(Math.ceil(length / 4));
  for (let at = 0; at < words.length; at++) words[at] = Math.imul(at + seed, 2_654_435_761);
  return new Uint8Array(words.buffer, 0, length);
}

const PARTS = [makeBytes(PART_BYTES, 1), makeBytes(PART_BYTES, 5e6), makeBytes(TAIL_BYTES, 9e6)];

async function hash(bytes: Uint8Array | ArrayBuffer): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>);
  return formatHex(new Uint8Array(digest));
}

/**
 * All that a caller sees of an object. The tags of uploads in parts, versions and times are random.
 */
async function describeObject(object: R2Object | R2ObjectBody | null): Promise<unknown> {
  if (!object) return null;
  const { key, size, httpMetadata, customMetadata, range, checksums, storageClass } = object;
  const headers = new Headers();
  object.writeHttpMetadata(headers);
  return {
    key,
    size,
    httpMetadata,
    customMetadata,
    range,
    storageClass,
    checksums: checksums.toJSON(),
    headers: [...headers],
    isNamed: object.version !== "" && object.httpEtag === `"${object.etag}"`,
    isRecent: Math.abs(Date.now() - object.uploaded.getTime()) < 600_000,
    ...("body" in object && { content: await hash(await object.arrayBuffer()) }),
  };
}

async function outcomeOf(bucket: R2Bucket, call: (bucket: R2Bucket) => Promise<unknown>) {
  try {
    return await call(bucket);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { name: error.name, message: error.message };
  }
}

/** Makes the same call to both buckets. @returns What it came to, which is the same. */
async function expectSame(call: (bucket: R2Bucket) => Promise<unknown>): Promise<unknown> {
  const expected = await outcomeOf(simulator, call);
  expect(await outcomeOf(local, call)).toEqual(expected);
  return expected;
}

async function putParts(bucket: R2Bucket, key: string): Promise<R2Object> {
  const upload = await bucket.createMultipartUpload(key, { customMetadata: { in: "parts" } });
  const sent: R2UploadedPart[] = [];
  for (const [at, part] of PARTS.entries()) sent.push(await upload.uploadPart(at + 1, part));
  return upload.complete(sent);
}

beforeAll(async () => {
  for (const bucket of [simulator, local]) {
    await bucket.put("file", makeBytes(200_000, 3), {
      httpMetadata: { contentType: "text/plain", cacheControl: "no-store" },
      customMetadata: { one: "1", two: "zwei" },
      sha256: await hash(makeBytes(200_000, 3)),
    });
    await bucket.put("empty", new Uint8Array(0));
    await bucket.put("a key/with ?signs #and ä", "text");
    await putParts(bucket, "parts");
  }
});

describe("a read", () => {
  it.each(["file", "empty", "a key/with ?signs #and ä", "parts"])(
    "gives all of what is stored as %j",
    async (key) => {
      expect(
        await expectSame(async (bucket) => describeObject(await bucket.get(key))),
      ).toMatchObject({ key, isNamed: true, isRecent: true });
      await expectSame(async (bucket) => describeObject(await bucket.head(key)));
    },
  );

  it("of a key that is missing is null", async () => {
    expect(await expectSame((bucket) => bucket.get("missing"))).toBeNull();
    expect(await expectSame((bucket) => bucket.head("missing"))).toBeNull();
  });

  const RANGES: R2Range[] = [
    { offset: 0, length: 1 },
    { offset: 100, length: 1000 },
    { offset: 1000 },
    { length: 10 },
    { suffix: 10 },
    { offset: PART_BYTES - 10, length: 20 },
    { offset: PART_BYTES, length: PART_BYTES },
    { offset: 10, length: 2 * PART_BYTES },
    { offset: 2 * PART_BYTES + 10 },
    { offset: 199_999, length: 1000 },
    { offset: 200_000, length: 1 },
    { offset: 20_000_000, length: 1 },
    { offset: 0, length: 20_000_000 },
    { offset: 5, length: 0 },
    { suffix: 0 },
  ];

  it.each(RANGES)("gives the range %j", async (range) => {
    for (const key of ["file", "empty", "parts"]) {
      await expectSame(async (bucket) => describeObject(await bucket.get(key, { range })));
    }
  });

  it("gives the range of a header, and regards conditions", async () => {
    const range = new Headers({ Range: "bytes=5-10" });
    await expectSame(async (bucket) => describeObject(await bucket.get("file", { range })));
    const etag = (await local.head("file"))?.etag ?? "";
    for (const onlyIf of [{ etagMatches: etag }, { etagDoesNotMatch: etag }]) {
      await expectSame(async (bucket) => describeObject(await bucket.get("file", { onlyIf })));
    }
  });

  it("gives the bytes of the parts in order", async () => {
    const bytes = new Uint8Array(2 * PART_BYTES + TAIL_BYTES);
    let at = 0;
    for (const part of PARTS) {
      bytes.set(part, at);
      at += part.length;
    }
    const object = await local.get("parts");
    expect(await hash((await object?.arrayBuffer()) ?? bytes.subarray(1))).toBe(await hash(bytes));
  });
});

describe("what is written", () => {
  it("replaces what was stored, and is listed and deleted", async () => {
    await expectSame((bucket) => bucket.put("again", "first").then((object) => object?.etag));
    await expectSame((bucket) => bucket.put("again", "the second").then((object) => object?.etag));
    await expectSame((bucket) => bucket.get("again").then((object) => object?.text()));
    await expectSame(async (bucket) => (await bucket.list()).objects.map(({ key }) => key));
    await expectSame((bucket) => bucket.delete(["again", "never"]));
    expect(await expectSame((bucket) => bucket.get("again"))).toBeNull();
  });

  it.each([0, 1, 16 * 1024, 16 * 1024 + 1, 300_000, 1_000_001])(
    "has the tag and the hashes of its %i bytes",
    async (length) => {
      const bytes = makeBytes(length, 7);
      await expectSame(async (bucket) => (await bucket.put("hashed", bytes))?.etag);
      const hashes = {
        sha1: await crypto.subtle.digest("SHA-1", bytes),
        sha256: await crypto.subtle.digest("SHA-256", bytes),
        sha384: await crypto.subtle.digest("SHA-384", bytes),
        sha512: await crypto.subtle.digest("SHA-512", bytes),
      };
      for (const [name, value] of Object.entries(hashes)) {
        const stored = await expectSame(async (bucket) =>
          describeObject(await bucket.put("hashed", bytes, { [name]: value })),
        );
        expect(stored).toMatchObject({ checksums: { [name]: formatHex(new Uint8Array(value)) } });
      }
      await expectSame(async (bucket) => describeObject(await bucket.get("hashed")));
    },
  );

  it("in parts has a tag of its own", async () => {
    const tags = [simulator, local, local].map(
      async (bucket) => (await putParts(bucket, "tagged")).etag,
    );
    const found = await Promise.all(tags);
    for (const tag of found) expect(tag).toMatch(/^[0-9a-f]{32}-3$/);
    expect(new Set(found).size).toBe(3);
  });

  it("is nothing where its stream fails", async () => {
    for (const bucket of [simulator, local]) {
      const upload = await bucket.createMultipartUpload("failed");
      const { readable, writable } = new FixedLengthStream(PART_BYTES);
      const storing = upload.uploadPart(1, readable);
      const writer = writable.getWriter();
      await writer.write(makeBytes(400_000, 2));
      await Promise.allSettled([writer.abort(new Error("the sender is gone")), writer.closed]);
      await expect(storing).rejects.toThrow("the sender is gone");
      await upload.abort();
      expect(await bucket.head("failed")).toBeNull();
    }
  });

  it("is refused with another hash", async () => {
    const sha256 = await hash(makeBytes(10, 1));
    expect(
      await expectSame((bucket) => bucket.put("refused", makeBytes(11, 1), { sha256 })),
    ).toMatchObject({ name: "Error" });
    expect(await expectSame((bucket) => bucket.get("refused"))).toBeNull();
  });
});

describe("a read in progress", () => {
  /** Reads the rest of an object in pieces. */
  async function readAll(body: ReadableStream<Uint8Array>): Promise<number> {
    let length = 0;
    for await (const piece of readPieces(body, 65_536)) length += piece.length;
    return length;
  }

  it.each(["deleted", "replaced"])("is not cut off where a file in parts is %s", async (how) => {
    await putParts(local, how);
    const object = (await local.get(how)) as R2ObjectBody;
    if (how === "deleted") await local.delete(how);
    else await local.put(how, "short");
    // Time for what is deleted in the background.
    await new Promise((resolve) => setTimeout(resolve, 100));

    expect(await readAll(object.body)).toBe(2 * PART_BYTES + TAIL_BYTES);
    const now = await local.get(how);
    expect(await now?.text()).toBe(how === "deleted" ? undefined : "short");
  });

  it("may be given up, and another one goes on", async () => {
    await putParts(local, "given up");
    const objects = await Promise.all([local.get("given up"), local.get("given up")]);
    const [first, second] = objects as [R2ObjectBody, R2ObjectBody];
    await first.body.cancel();
    expect(await readAll(second.body)).toBe(2 * PART_BYTES + TAIL_BYTES);
  });
});
