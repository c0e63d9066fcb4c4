import { gzipSync } from "node:zlib";

import { describe, expect, it } from "vitest";

import { sourceOfBytes } from "../../../src/lib/archive-source.ts";
import { readTarGz, type TarLimits } from "../../../src/registries/archives/tar.ts";
import { type MadeEntry, makeTar, makeTarGz } from "../../support/archives.ts";
import { expectPauses } from "../../support/slices.ts";

/** Reads all entries; the contents of files as text. */
async function read(bytes: Uint8Array, limits?: TarLimits) {
  const found: object[] = [];
  for await (const entry of readTarGz(sourceOfBytes(bytes), limits)) {
    const { path, type, linkTarget, sizeBytes } = entry;
    const content = type === "file" ? new TextDecoder().decode(await entry.read(1e7)) : "";
    found.push({ path, type, sizeBytes, content: content.slice(0, 20), linkTarget });
  }
  return found;
}

describe("a compressed tar archive", () => {
  it("is read as a stream", async () => {
    const long = `pkg/${"long/".repeat(30)}name`;
    const bytes = await makeTarGz([
      { path: "./" },
      { path: "./pkg/", tar: { type: "directory" } },
      { path: "pkg/one", content: "one".repeat(100_000) },
      { path: long, content: "two" },
      { path: "pkg/empty" },
    ]);
    expect(await read(bytes)).toMatchObject([
      { path: "pkg", type: "directory" },
      { path: "pkg/one", sizeBytes: 300_000, content: "oneoneoneoneoneoneon" },
      { path: long, content: "two" },
      { path: "pkg/empty", content: "" },
    ]);
  });

  it("is skipped over, and left early", async () => {
    const entries = Array.from({ length: 50 }, (_, at) => ({
      path: `f${at}`,
      content: crypto.getRandomValues(new Uint8Array(50_000)),
    }));
    const paths: string[] = [];
    for await (const { path } of readTarGz(sourceOfBytes(await makeTarGz(entries)))) {
      paths.push(path);
      if (paths.length === 40) break;
    }
    expect(paths.at(-1)).toBe("f39");
  });

  // The library parses an extended header at once.
  it("refuses an extended header that is large, and gives way while it reads others", async () => {
    const pax = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, ""]));
    const entriesOf = (count: number): MadeEntry[] =>
      Array.from({ length: 20 }, (_, at) => ({ path: `f${at}`, tar: { pax: pax(count) } }));
    const files = await expectPauses(5, async () => read(await makeTarGz(entriesOf(5000))));
    expect(files).toHaveLength(20);
    await expect(read(await makeTarGz(entriesOf(9000)))).rejects.toMatchObject({
      kind: "too_large",
      message: expect.stringContaining("extended header"),
    });
  });

  // SECURITY: readers that know extended headers would find other entries than those that do not.
  it("refuses an entry with two sizes", async () => {
    const sizedTo = async (size: string, typeflag: "x" | "g") => {
      const content = `${`00 size=${size}\n`.length} size=${size}\n`;
      const bytes = await makeTar([
        {
          path: "pax",
          content,
          tar: { type: typeflag === "x" ? "pax-header" : "pax-global-header" },
        },
        { path: "a", content: "text" },
      ]);
      return read(new Uint8Array(gzipSync(bytes)));
    };
    expect(await sizedTo("4", "x")).toMatchObject([{ path: "a", sizeBytes: 4 }]);
    await expect(sizedTo("0", "x")).rejects.toMatchObject({ kind: "malformed" });
    await expect(sizedTo("512", "x")).rejects.toMatchObject({ kind: "malformed" });
    await expect(sizedTo("4", "g")).rejects.toMatchObject({ kind: "malformed" });
  });

  it("has links only where the format has them", async () => {
    const bytes = await makeTarGz([{ path: "a", tar: { type: "symlink", linkname: "b" } }]);
    await expect(read(bytes)).rejects.toMatchObject({ kind: "malformed" });
    expect(await read(bytes, { hasLinks: true })).toMatchObject([
      { path: "a", type: "symlink", linkTarget: "b" },
    ]);
  });

  it.each<[string, MadeEntry]>([
    ["..", { path: "../a" }],
    ["an inner ..", { path: "a/../../b" }],
    ["an absolute path", { path: "/etc/passwd" }],
    ["a backslash", { path: "a\\b" }],
    ["a device", { path: "a", tar: { type: "character-device" } }],
    ["a hard link", { path: "a", tar: { type: "link", linkname: "b" } }],
  ])("with %s is refused", async (_, entry) => {
    await expect(read(await makeTarGz([entry]))).rejects.toMatchObject({ kind: "malformed" });
  });

  it("that is cut or changed is refused", async () => {
    const content = crypto.getRandomValues(new Uint8Array(5000));
    const whole = await makeTarGz([{ path: "a", content }]);
    await expect(read(whole.slice(0, -100))).rejects.toMatchObject({ kind: "malformed" });
    const tar = await makeTar([{ path: "a", content }]);
    for (const bytes of [tar, gzipSync(tar.slice(0, 3000)), gzipSync("no tar"), new Uint8Array()]) {
      await expect(read(new Uint8Array(bytes))).rejects.toMatchObject({ kind: "malformed" });
    }
    const changed = whole.slice();
    changed[3000] = (changed[3000] ?? 0) ^ 255;
    await expect(read(changed)).rejects.toMatchObject({ kind: "malformed" });
  });

  it("that unpacks to too much, or has too many entries, is refused", async () => {
    const bomb = await makeTarGz([{ path: "a", content: new Uint8Array(70 * 1024 * 1024) }]);
    await expect(read(bomb)).rejects.toMatchObject({ kind: "too_large" });
    const two = await makeTarGz([{ path: "a" }, { path: "b" }]);
    await expect(read(two, { entriesMax: 1 })).rejects.toMatchObject({ kind: "too_large" });
  });

  it("whose source fails throws the source's error", async () => {
    const source = {
      sizeBytes: 5,
      read: () => Promise.reject(new Error("away")),
      open: () => Promise.reject(new Error("the storage is away")),
    };
    await expect(readTarGz(source).next()).rejects.toThrow("the storage is away");
  });
});
