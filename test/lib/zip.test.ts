import { describe, expect, it } from "vitest";

import { sourceOfBytes } from "../../src/lib/archive-source.ts";
import { openZip, type ZipFile } from "../../src/lib/zip.ts";
import { type MadeEntry, makeZip } from "../support/archives.ts";

const open = (bytes: Uint8Array) => openZip(sourceOfBytes(bytes));

/** Streams a file to its end. */
async function streamOut(file: ZipFile): Promise<Uint8Array> {
  const pieces: number[] = [];
  for await (const piece of file.open()) for (const byte of piece) pieces.push(byte);
  return Uint8Array.from(pieces);
}

const textOf = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);

describe("a zip archive", () => {
  it("is read by its directory", async () => {
    const files = await open(
      makeZip([
        { path: "a/", mode: 0o040755, isStored: true },
        { path: "a/one", content: "one ".repeat(1000) },
        { path: "b ü", content: "two", isStored: true, mode: 0o100755 },
      ]),
    );
    expect(files).toMatchObject([
      { path: "a/one", sizeBytes: 4000, isExecutable: false },
      { path: "b ü", sizeBytes: 3, isExecutable: true },
    ]);
    expect(textOf(await files[0]?.read(4000))).toBe("one ".repeat(1000));
    expect(textOf(await files[1]?.read(10))).toBe("two");
    await expect(files[0]?.read(3999)).rejects.toMatchObject({ kind: "too_large" });
  });

  it("of many files is read from its end", async () => {
    const entries = Array.from({ length: 3000 }, (_, at) => ({
      path: `folder/file-${at}`,
      content: crypto.getRandomValues(new Uint8Array(200)),
      isStored: true,
    }));
    const files = await open(makeZip(entries));
    expect(files).toHaveLength(3000);
    expect(await files[0]?.read(200)).toEqual(entries[0]?.content);
    expect(await files[2999]?.read(200)).toEqual(entries[2999]?.content);
  });

  it("whose source fails throws the source's error", async () => {
    const bytes = makeZip([{ path: "a", content: "a" }]);
    const source = {
      ...sourceOfBytes(bytes),
      read: () => Promise.reject(new Error("the storage is away")),
    };
    await expect(openZip(source)).rejects.toThrow("the storage is away");
  });

  it.each<[string, MadeEntry]>([
    ["..", { path: "../a" }],
    ["an inner ..", { path: "a/../../b" }],
    ["an absolute path", { path: "/etc/passwd" }],
    ["a drive", { path: "C:/a" }],
    ["a backslash", { path: "a\\..\\b" }],
    ["a NUL", { path: "a\0b" }],
    ["a deep path", { path: `${"a/".repeat(100)}b` }],
    ["a link", { path: "a", content: "/etc/passwd", mode: 0o120777 }],
    ["an encrypted entry", { path: "a", content: "a", claims: { flags: 1 } }],
    ["another method", { path: "a", content: "a", claims: { method: 12 } }],
    ["a size that no deflate reaches", { path: "a", content: "a", claims: { sizeBytes: 100_000 } }],
    [
      "a stored size that differs",
      { path: "a", content: "a", isStored: true, claims: { sizeBytes: 2 } },
    ],
    ["an offset beyond it", { path: "a", content: "a", claims: { offset: 5000 } }],
    ["a content beyond it", { path: "a", content: "a", claims: { compressedBytes: 5000 } }],
  ])("with %s is refused", async (_, entry) => {
    await expect(open(makeZip([entry]))).rejects.toMatchObject({ kind: "malformed" });
  });

  it.each<[string, readonly MadeEntry[]]>([
    ["two entries of one name", [{ path: "a" }, { path: "a" }]],
    [
      "entries that overlap",
      [
        { path: "a", content: "a" },
        { path: "b", claims: { offset: 0 } },
      ],
    ],
  ])("with %s is refused", async (_, entries) => {
    await expect(open(makeZip(entries))).rejects.toMatchObject({ kind: "malformed" });
  });

  it.each([
    ["nothing", ""],
    ["text", "this is no archive, but long enough to have a directory"],
  ])("of %s is refused", async (_, text) => {
    await expect(open(new TextEncoder().encode(text))).rejects.toMatchObject({ kind: "malformed" });
  });

  it("that is cut, or has something before or after it, is refused", async () => {
    const bytes = makeZip([{ path: "a", content: "a" }]);
    const more = new Uint8Array([1, 2, 3]);
    for (const each of [
      bytes.slice(0, -1),
      bytes.slice(1),
      Uint8Array.of(...more, ...bytes),
      Uint8Array.of(...bytes, ...more),
    ]) {
      await expect(open(each)).rejects.toMatchObject({ kind: "malformed" });
    }
  });

  it("that unpacks to too much for its size is refused", async () => {
    const content = new Uint8Array(2 * 1024 * 1024);
    const entries = Array.from({ length: 40 }, (_, at) => ({ path: String(at), content }));
    await expect(open(makeZip(entries))).rejects.toMatchObject({ kind: "too_large" });
  });

  it.each<[string, NonNullable<MadeEntry["claims"]>]>([
    ["a wrong checksum", { crc: 1 }],
    ["more than it claims", { sizeBytes: 10 }],
    ["less than it claims", { sizeBytes: 2000 }],
    ["another local name", { localPath: "b" }],
  ])("has a content with %s, which is refused when read", async (_, claims) => {
    const [file] = await open(makeZip([{ path: "a", content: "a".repeat(1000), claims }]));
    await expect(file?.read(5000)).rejects.toMatchObject({ kind: "malformed" });
    const streamed = file && streamOut(file);
    await expect(streamed).rejects.toMatchObject({ kind: "malformed" });
  });

  it("is streamed file by file, however large, and as far as the caller wants", async () => {
    const large = crypto.getRandomValues(new Uint8Array(60_000));
    const text = "one ".repeat(10_000);
    const [stored, deflated, empty] = await open(
      makeZip([
        { path: "stored", content: large, isStored: true },
        { path: "deflated", content: text },
        { path: "empty", content: "" },
      ]),
    );
    if (!stored || !deflated || !empty) throw new Error("a file is missing");
    expect(await streamOut(stored)).toEqual(large);
    expect(textOf(await streamOut(deflated))).toBe(text);
    expect(await streamOut(empty)).toEqual(new Uint8Array());
    const pieces = stored.open();
    expect((await pieces.next()).value?.length).toBeGreaterThan(0);
    await pieces.return();
    expect(await stored.read(60_000)).toEqual(large);
  });

  it("whose source fails while a file is streamed throws the source's error", async () => {
    const content = new Uint8Array(300_000);
    const bytes = makeZip([{ path: "a", content, isStored: true }]);
    const source = sourceOfBytes(bytes);
    const away = () => Promise.reject(new Error("the storage is away"));
    const [file] = await openZip({ ...source, open: away });
    if (!file) throw new Error("the file is missing");
    await expect(streamOut(file)).rejects.toThrow("the storage is away");
  });

  it("with too many entries is refused", async () => {
    const bytes = makeZip([{ path: "a" }, { path: "b" }, { path: "c" }]);
    await expect(openZip(sourceOfBytes(bytes), { entriesMax: 2 })).rejects.toMatchObject({
      kind: "too_large",
    });
  });

  it("of which some files are read may have many others", async () => {
    const others = Array.from({ length: 5001 }, (_, at) => ({ path: `other-${at}` }));
    const source = sourceOfBytes(makeZip([...others, { path: "manifest", content: "text" }]));
    const files = await openZip(source, { isRead: (path) => path === "manifest" });
    expect(files).toHaveLength(5002);
    expect(textOf(await files.at(-1)?.read(10))).toBe("text");
    await expect(openZip(source)).rejects.toMatchObject({ kind: "too_large" });
  });

  // The library queues what it unpacks for all requests of an isolate. A request that waits for
  // another one never ends.
  it("is read while other reads hang", async () => {
    const archive = makeZip([
      { path: "a", content: new Uint8Array(200_000).map(() => Math.random() * 256) },
      { path: "b", content: "b" },
    ]);
    let hanging = 0;
    const source = {
      ...sourceOfBytes(archive),
      open: async () => {
        hanging++;
        return new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) });
      },
    };
    for (let at = 0; at < 100; at++) {
      const [large] = await openZip(source);
      void large?.read(200_000).catch(() => {});
    }
    await expect.poll(() => hanging, { timeout: 5000 }).toBe(100);
    const files = await open(archive);
    expect((await files[0]?.read(200_000))?.length).toBe(200_000);
    expect(textOf(await files[1]?.read(1))).toBe("b");
  });
});
