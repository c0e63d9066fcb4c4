import { env } from "cloudflare:workers";
import { and, eq } from "drizzle-orm";
import { describe, expect, it, vi } from "vitest";

import { lfsLooseFiles, lfsObjects } from "../../../src/db/schema/index.ts";
import { removeLooseFiles } from "../../../src/domain/code/lfs/remove-loose-files.ts";
import { LFS_UPLOAD_LIFE_MS } from "../../../src/domain/code/lfs/store-object.ts";
import { LargeFiles } from "../../../src/storage/large-files.ts";
import { Bucket } from "../../../src/storage/bucket.ts";
import { largeFileKey } from "../../../src/storage/keys.ts";
import { StorageUsage } from "../../../src/storage/storage-usage.ts";
import { visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsBy } from "../../support/events.ts";
import {
  askLfs,
  fetchBytes,
  fetchObject,
  largeFilesOf,
  lfsSizeOf,
  looseOf,
  makeLargeFile,
  objectsOf,
  pathTo,
  type TestFile,
  upload,
} from "../../support/large-files.ts";
import { freshName, make, type TestRepo } from "../../support/make.ts";
import { doorsWith } from "../../support/service.ts";
import { systemCtx } from "../../support/system.ts";
import { logged } from "../../support/usage.ts";

async function makeStored(content: string | Uint8Array = freshName("large")) {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const file = makeLargeFile(content);
  expect((await upload(owner, repo, file)).status).toBe(200);
  return { owner, repo, file };
}

/** Bytes that differ by position. */
const pattern = (length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, at) => (at * 31 + (at >>> 8)) & 255);

const expectNothingStored = async (repo: TestRepo) => {
  expect([await objectsOf(repo), await lfsSizeOf(repo)]).toEqual([[], 0]);
  await vi.waitFor(async () =>
    expect([await looseOf(repo), await largeFilesOf(repo)]).toEqual([[], []]),
  );
};

describe("PUT /objects/{oid}/{size}", () => {
  it("stores a file with the stated length and hash, once", async () => {
    const { owner, repo, file } = await makeStored(pattern(100_000));
    const [row] = await objectsOf(repo);
    expect(row).toMatchObject({ oid: file.oid, sizeBytes: 100_000 });
    const key = largeFileKey({ ...repo, oid: file.oid, uploadId: row?.uploadId ?? "" });
    expect(await largeFilesOf(repo)).toEqual([key]);
    expect(await looseOf(repo)).toEqual([]);
    // No event: only the push that references the file records one.
    expect(await eventsBy(owner)).toEqual([]);

    expect((await upload(owner, repo, file)).status).toBe(200);
    expect([await objectsOf(repo), await largeFilesOf(repo)]).toEqual([[row], [key]]);
    expect(await lfsSizeOf(repo)).toBe(100_000);
    const { body } = await visit("GET", `/api/v1/repos/${repo.owner}/${repo.name}`);
    expect(body.size).toBe(98);
  });

  it("accepts an empty file", async () => {
    const { repo, file } = await makeStored("");
    const { status, headers, bytes } = await fetchObject(repo, file.oid);
    expect([status, headers.get("Content-Length"), bytes.length]).toEqual([200, "0", 0]);
    const ranged = await fetchObject(repo, file.oid, { headers: { Range: "bytes=0-0" } });
    expect([ranged.status, ranged.headers.get("Content-Range")]).toEqual([416, "bytes */0"]);
  });

  // SECURITY: other content under a known oid would reach every client that downloads it.
  it("refuses content with another hash or length, and leaves no file", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const file = makeLargeFile(pattern(70_000));
    const other = makeLargeFile("other");
    const changed = file.bytes.slice();
    changed[69_999] = 1;
    const stream = (...pieces: Uint8Array[]): ReadableStream =>
      new ReadableStream({
        start: (controller) => {
          for (const piece of pieces) controller.enqueue(piece);
          controller.close();
        },
      });
    const put = async (size: number | string, body?: BodyInit, headers = {}) =>
      (
        await askLfs("PUT", repo, `objects/${file.oid}/${size}`, {
          as: owner,
          headers,
          ...(body && { body }),
        })
      ).status;
    expect(await put(70_000, changed)).toBe(422);
    expect(await put(70_000, other.bytes)).toBe(422);
    expect(await put(70_000)).toBe(422);
    expect(await put(69_999, file.bytes)).toBe(422);
    expect(await put(70_001, file.bytes)).toBe(422);
    expect(await put(0)).toBe(422);
    expect(await put(other.size, other.bytes)).toBe(422);
    // Bodies without Content-Length are checked while they stream.
    expect(await put(70_000, stream(file.bytes, other.bytes))).toBe(422);
    expect(await put(70_000, stream(file.bytes.slice(1)))).toBe(422);
    expect(await put(70_000, stream(changed))).toBe(422);
    expect(await put(70_000, stream())).toBe(422);
    expect(await put(70_000, file.bytes.slice(1), { "Content-Length": "70000" })).toBe(422);
    await expectNothingStored(repo);
    expect((await fetchObject(repo, file.oid)).status).toBe(404);
    expect(await put(70_000, stream(file.bytes.slice(0, 1), file.bytes.slice(1)))).toBe(200);
    expect((await fetchObject(repo, file.oid)).bytes).toEqual(file.bytes);
  });

  // SECURITY: the oid becomes part of a bucket key.
  it.each([
    ["in capitals", (oid: string) => oid.toUpperCase()],
    ["too short", (oid: string) => oid.slice(1)],
    ["too long", (oid: string) => `${oid}0`],
    ["not hex", (oid: string) => `${oid.slice(0, 63)}g`],
    ["a path", (oid: string) => `..%2F..%2F${oid.slice(6)}`],
    ["dots", () => "%2e%2e%2f%2e%2e"],
    ["with a NUL", (oid: string) => `${oid.slice(0, 63)}%00`],
    ["with a line feed", (oid: string) => `${oid}%0a`],
    ["not UTF-8", (oid: string) => `${oid.slice(0, 63)}%ff`],
    ["half an escape", (oid: string) => `${oid.slice(0, 63)}%`],
    ["in wide digits", (oid: string) => `${oid.slice(0, 63)}%EF%BC%91`],
    ["very long", () => "a".repeat(5000)],
  ])("refuses uploads and downloads with an oid that is %s", async (_, change) => {
    const { owner, repo, file } = await makeStored();
    const before = await largeFilesOf(repo);
    const oid = change(file.oid);
    for (const [method, rest] of [
      ["PUT", `objects/${oid}/${file.size}`],
      ["GET", `objects/${oid}`],
      ["GET", `objects/${oid}/bmFtZQ`],
    ] as const) {
      const body = method === "PUT" ? { body: file.bytes } : {};
      const answer = await askLfs(method, repo, rest, { as: owner, ...body });
      expect([rest, answer.status, answer.body.message]).toEqual([
        rest,
        422,
        "Oid or size are invalid",
      ]);
    }
    expect([await objectsOf(repo), await looseOf(repo)]).toEqual([[expect.anything()], []]);
    expect(await largeFilesOf(repo)).toEqual(before);
    expect(() => largeFileKey({ ...repo, oid, uploadId: "x" })).toThrow("no hash");
  });

  it.each([
    "-1",
    "1.5",
    "1e3",
    "0x10",
    "",
    "a",
    "9".repeat(17),
    "9".repeat(5000),
    "%00",
    "+1",
    "%201",
  ])("refuses the size %j", async (size) => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const file = makeLargeFile("x");
    const answer = await askLfs("PUT", repo, `objects/${file.oid}/${size}`, {
      as: owner,
      body: file.bytes,
    });
    expect([size, answer.status]).toEqual([size, size === "" ? 404 : 422]);
    await expectNothingStored(repo);
  });

  it("refuses a file over LFS_MAX_FILE_SIZE", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const visitSmall = doorsWith({ LFS_MAX_FILE_SIZE: "5" });
    expect((await upload(owner, repo, makeLargeFile("123456"), visitSmall)).status).toBe(422);
    await expectNothingStored(repo);
    expect((await upload(owner, repo, makeLargeFile("12345"), visitSmall)).status).toBe(200);
  });

  it("accepts concurrent uploads of one file, and keeps one copy", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const file = makeLargeFile(pattern(200_000));
    const answers = await Promise.all([1, 2, 3].map(() => upload(owner, repo, file)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    await vi.waitFor(async () => {
      expect(await looseOf(repo)).toEqual([]);
      expect(await largeFilesOf(repo)).toHaveLength(1);
    });
    expect(await objectsOf(repo)).toHaveLength(1);
    expect(await lfsSizeOf(repo)).toBe(200_000);
    expect((await fetchObject(repo, file.oid)).bytes).toEqual(file.bytes);
  });

  it("takes three round trips to D1 and one bucket call, and buffers nothing", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const file = makeLargeFile(pattern(9_000_000));
    const { line } = await logged(() => upload(owner, repo, file));
    expect(line).toMatchObject({ status: 200, d1Rounds: 3, r2Calls: 1, objectCalls: 0 });
    expect(line).toMatchObject({ bufferedBytesPeak: 0 });
  });

  it("discards a file whose upload expired", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const file = makeLargeFile(pattern(50_000));
    let proceed = (): void => {};
    const started = new Promise<void>((resolve) => (proceed = resolve));
    const { resolve: finish, promise: finished } = Promise.withResolvers<void>();
    const slow = () =>
      new ReadableStream({
        async pull(controller) {
          proceed();
          await finished;
          controller.enqueue(file.bytes);
          controller.close();
        },
      });
    const uploading = askLfs("PUT", repo, `objects/${file.oid}/${file.size}`, {
      as: owner,
      body: slow(),
    });
    await started;
    const late = await vi.waitFor(async () => {
      const looseFiles = await looseOf(repo);
      expect(looseFiles).toHaveLength(1);
      return looseFiles;
    });
    const uploadId = late[0]?.uploadId ?? "";
    await db
      .update(lfsLooseFiles)
      .set({ expiresAt: Date.now() - 1000 })
      .where(eq(lfsLooseFiles.uploadId, uploadId));
    finish();
    expect((await uploading).status).toBe(404);
    await expectNothingStored(repo);
  });
});

describe("a file uploaded in several parts", () => {
  const open = () => {
    const usage = new StorageUsage();
    const cache = {
      get: () => Promise.resolve(undefined),
      open: () => Promise.resolve(undefined),
      put: () => {},
    };
    return { usage, files: new LargeFiles(new Bucket(env.PACKS, usage, cache)) };
  };
  const bodyOf = ({ bytes }: TestFile): ReadableStream<Uint8Array> => new Blob([bytes]).stream();

  it("is verified like a file of a single put, and does not exist if it is refused", async () => {
    const { usage, files } = open();
    const file = makeLargeFile(pattern(20_000_000));
    const target = { networkName: freshName("net"), oid: file.oid, uploadId: "1" };
    const partBytes = 5 * 1024 * 1024;
    const limits = { putBytesMax: partBytes, partBytes };
    expect(await files.receive(target, file.size, bodyOf(file), limits)).toBe(true);
    expect(usage.r2Calls).toBe(6);
    expect(usage.bufferedBytesPeak).toBe(0);
    const read = new Response(await files.open(target, { start: 9_999_999, end: 10_000_002 }));
    expect(new Uint8Array(await read.arrayBuffer())).toEqual(
      file.bytes.slice(9_999_999, 10_000_002),
    );

    const wrong = { ...target, oid: makeLargeFile("x").oid, uploadId: "2" };
    for (const [as, size] of [
      [wrong, file.size],
      [{ ...target, uploadId: "3" }, file.size - 1],
      [{ ...target, uploadId: "4" }, file.size + 1],
    ] as const) {
      expect(await files.receive(as, size, bodyOf(file), limits)).toBe(false);
      expect(await env.PACKS.head(largeFileKey(as))).toBeNull();
    }
  });
});

describe("GET /objects/{oid}", () => {
  it("sends the file as an attachment that browsers do not render", async () => {
    const { repo, file } = await makeStored("<script>alert(1)</script>");
    const name = btoa('a/b "ü"\r\n.html'.replace("ü", "\u00c3\u00bc"));
    for (const rest of [`objects/${file.oid}`, `objects/${file.oid}/${name}`]) {
      const { status, headers, bytes } = await fetchBytes(pathTo(repo, rest));
      expect([status, bytes]).toEqual([200, file.bytes]);
      const isNamed = rest.endsWith(name);
      expect(Object.fromEntries(headers)).toMatchObject({
        "content-type": "application/octet-stream",
        "content-length": String(file.size),
        "content-disposition": isNamed
          ? `attachment; filename="a_b _____.html"; filename*=UTF-8''a%2Fb%20%22%C3%BC%22%0D%0A.html`
          : "attachment",
        "content-security-policy": "default-src 'none'; sandbox",
        "x-content-type-options": "nosniff",
        "accept-ranges": "bytes",
        etag: `"${file.oid}"`,
        "cache-control": "max-age=0, private, must-revalidate, no-transform",
      });
    }
    for (const odd of ["%00", "!!!", "YQ==", "x".repeat(5000)]) {
      const { status } = await fetchBytes(pathTo(repo, `objects/${file.oid}/${odd}`));
      expect([odd, status]).toEqual([odd, 200]);
    }
  });

  it("sends ranges, and 416 for a range outside the file", async () => {
    const { repo, file } = await makeStored(pattern(1000));
    const parts: [string, number, number][] = [
      ["bytes=0-0", 0, 1],
      ["bytes=0-", 0, 1000],
      ["bytes=500-", 500, 1000],
      ["bytes=500-599", 500, 600],
      ["Bytes=999-5000", 999, 1000],
      ["bytes=-1", 999, 1000],
      ["bytes=-5000", 0, 1000],
    ];
    for (const [range, start, end] of parts) {
      const { status, headers, bytes } = await fetchObject(repo, file.oid, {
        headers: { Range: range },
      });
      expect([range, status, headers.get("Content-Range"), headers.get("Content-Length")]).toEqual([
        range,
        206,
        `bytes ${start}-${end - 1}/1000`,
        String(end - start),
      ]);
      expect(bytes).toEqual(file.bytes.slice(start, end));
    }
    for (const range of ["bytes=1000-", "bytes=5000-6000", "bytes=-0"]) {
      const { status, headers, bytes } = await fetchObject(repo, file.oid, {
        headers: { Range: range },
      });
      expect([range, status, headers.get("Content-Range"), bytes.length]).toEqual([
        range,
        416,
        "bytes */1000",
        0,
      ]);
    }
    const meaningless = ["bytes=-", "bytes=5-1", "bytes=a-b", "lines=0-1", "bytes=0-1,5-6", "0-1"];
    for (const range of [...meaningless, `bytes=${"9".repeat(5000)}-`]) {
      const { status, bytes } = await fetchObject(repo, file.oid, { headers: { Range: range } });
      expect([range.slice(0, 20), status, bytes.length]).toEqual([range.slice(0, 20), 200, 1000]);
    }
    const ifRange = async (tag: string) =>
      (await fetchObject(repo, file.oid, { headers: { Range: "bytes=0-0", "If-Range": tag } }))
        .status;
    expect([await ifRange(`"${file.oid}"`), await ifRange('"other"')]).toEqual([206, 200]);
  });

  it("returns 304 for a known ETag, and only headers for HEAD", async () => {
    const { repo, file } = await makeStored();
    const tag = `"${file.oid}"`;
    const known = await fetchObject(repo, file.oid, { headers: { "If-None-Match": tag } });
    expect([known.status, known.headers.get("ETag"), known.bytes.length]).toEqual([304, tag, 0]);
    const { line } = await logged(() => visit("HEAD", pathTo(repo, `objects/${file.oid}`)));
    expect(line).toMatchObject({ status: 200, r2Calls: 0 });
    const head = await fetchObject(repo, file.oid, { method: "HEAD" });
    expect([head.status, head.headers.get("Content-Length"), head.bytes.length]).toEqual([
      200,
      String(file.size),
      0,
    ]);
  });

  it("takes two round trips to D1 and one bucket call, and buffers nothing", async () => {
    const { repo, file } = await makeStored(pattern(3_000_000));
    const { line } = await logged(() => visit("GET", pathTo(repo, `objects/${file.oid}`)));
    expect(line).toMatchObject({ status: 200, d1Rounds: 2, r2Calls: 1, objectCalls: 0 });
    expect(line).toMatchObject({ bufferedBytesPeak: 0 });
  });
});

describe("POST /verify", () => {
  it("confirms a stored file with its size, and nothing else", async () => {
    const { owner, repo, file } = await makeStored();
    const ask = async (json: unknown, as = owner) =>
      (await askLfs("POST", repo, "verify", { as, json })).status;
    const { oid, size } = file;
    expect(await ask({ oid, size })).toBe(200);
    expect(await ask({ oid, size: size + 1 })).toBe(404);
    expect(await ask({ oid: makeLargeFile("none").oid, size })).toBe(404);
    expect(await ask({ oid: "../x", size })).toBe(422);
    expect(await ask({ oid, size: -1 })).toBe(422);
    for (const odd of [{}, [], null, { oid }, { oid: [oid], size }, { oid, size: "1" }]) {
      expect([odd, await ask(odd)]).toEqual([odd, 400]);
    }
    expect(await ask({ oid, size }, await make.user())).toBe(401);
  });
});

describe("removeLooseFiles", () => {
  it("deletes files of expired uploads, and neither running uploads nor referenced files", async () => {
    const { repo, file } = await makeStored();
    const [row] = await objectsOf(repo);
    const now = Date.now();
    for (const [at, name] of ["a", "b"].entries()) {
      const { oid, bytes } = makeLargeFile(name);
      const uploadId = freshName(name);
      const { networkName } = repo;
      await env.PACKS.put(largeFileKey({ networkName, oid, uploadId }), bytes);
      const expiresAt = now + at * LFS_UPLOAD_LIFE_MS;
      await db.insert(lfsLooseFiles).values({ uploadId, oid, networkName, expiresAt });
    }
    // An hour after the expiry, since the clocks of two requests may differ.
    await removeLooseFiles(systemCtx({}, now + 1000));
    expect(await largeFilesOf(repo)).toHaveLength(3);
    await removeLooseFiles(systemCtx({}, now + 2 * 60 * 60 * 1000));
    expect(await largeFilesOf(repo)).toHaveLength(2);
    const later = systemCtx({}, now + 2 * LFS_UPLOAD_LIFE_MS);
    await removeLooseFiles(later, "another network");
    expect(await largeFilesOf(repo)).toHaveLength(2);
    await removeLooseFiles(later, repo.networkName);
    expect([await looseOf(repo), await objectsOf(repo)]).toEqual([[], [row]]);
    expect(await largeFilesOf(repo)).toHaveLength(1);
    expect((await fetchObject(repo, file.oid)).bytes).toEqual(file.bytes);
    const isThis = and(eq(lfsObjects.repoId, repo.id), eq(lfsObjects.oid, file.oid));
    expect(await db.select().from(lfsObjects).where(isThis)).toHaveLength(1);
  });
});
