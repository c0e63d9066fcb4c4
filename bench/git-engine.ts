// Compares the engine with git on a given repository:
//
//   node bench/git-engine.ts <path of a repository>
//
// Packs everything reachable, indexes it with `git index-pack` and with the engine, and prints
// seconds, objects/s and MB/s of both, and the peak memory of the engine for delta bases.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { constants, deflateRawSync, deflateSync, inflateSync } from "node:zlib";
import { runNow } from "../src/git/budget.ts";
import type { Codec } from "../src/git/codec.ts";
import { DEFAULT_SEVERITIES } from "../src/git/object/finding.ts";
import { resolveDeltas } from "../src/git/pack/delta-resolver.ts";
import { formatIdx } from "../src/git/pack/idx-file.ts";
import { DEFAULT_PACK_LIMITS, LIVE_BYTES_MAX } from "../src/git/pack/limits.ts";
import { PackScanner } from "../src/git/pack/pack-scanner.ts";
import { makeSidecar } from "../src/git/sidecar/make-sidecar.ts";
import { PackInspector } from "../src/git/sidecar/pack-inspector.ts";
import { formatSidecar } from "../src/git/sidecar/sidecar-file.ts";
import type { OutsideObjects } from "../src/git/store.ts";
import { openKernel } from "./support/kernel.ts";

const [repository = "."] = process.argv.slice(2);
/** As request bodies are read. */
const CHUNK_BYTES = 256 * 1024;

const codec: Codec = {
  createSha1: () => createHash("sha1"),
  deflate: (bytes) => deflateSync(bytes),
  deflateBlocks: (bytes) => deflateRawSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }),
  inflate: (bytes, sizeBytes) => inflateSync(bytes, { chunkSize: sizeBytes }),
};

const kernel = await openKernel();
const pack = execFileSync(
  "git",
  ["-C", repository, "pack-objects", "--all", "--delta-base-offset", "--stdout", "-q"],
  {
    input: "",
    maxBuffer: 2 ** 31,
  },
);

function show(name: string, seconds: number, objects: number): void {
  const objectRate = Math.round(objects / seconds);
  const byteRate = (pack.length / seconds / 1e6).toFixed(1);
  console.log(
    `${name.padEnd(24)} ${seconds.toFixed(2)} s  ${objectRate} objects/s  ${byteRate} MB/s`,
  );
}

/** The repository of a pack that refers to nothing outside of it. */
const NOTHING: OutsideObjects = {
  readObject: () => Promise.resolve(undefined),
  find: () => Promise.resolve(undefined),
};

const cpuSeconds = (since: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1e6;
};

const count = pack.readUInt32BE(8);
console.log(`${count} objects, ${(pack.length / 1e6).toFixed(1)} MB`);

const directory = mkdtempSync(join(tmpdir(), "git-engine-"));
execFileSync("git", ["init", "-q", "--bare", directory]);
const started = performance.now();
spawnSync("git", ["-C", directory, "index-pack", "--stdin", "--threads=1"], { input: pack });
show("git index-pack", (performance.now() - started) / 1000, count);
rmSync(directory, { recursive: true });

for (let round = 0; round < 2; round++) {
  const roundStart = process.cpuUsage();
  let inspector: PackInspector | undefined;
  const scanner = new PackScanner(
    codec,
    DEFAULT_PACK_LIMITS,
    (entry, kind, content) => inspector?.onWhole(entry, kind, content),
    kernel,
  );
  // The first round measures only the passes, the second one everything that a push requires.
  if (round === 1) inspector = new PackInspector(scanner.table, DEFAULT_SEVERITIES);
  for (let at = 0; at < pack.length; at += CHUNK_BYTES) {
    runNow(scanner.push(pack.subarray(at, at + CHUNK_BYTES)));
  }
  const { table, checksum } = scanner.finish();
  show("first pass (CPU)", cpuSeconds(roundStart), count);

  const second = process.cpuUsage();
  const files = new Map<number, Uint8Array>();
  const report = await resolveDeltas(table, {
    source: {
      sizeBytes: pack.length,
      read: (start, end) => Promise.resolve(pack.subarray(start, end)),
    },
    codec,
    kernel,
    limits: DEFAULT_PACK_LIMITS,
    scratch: {
      write: async (file, bytes) => void files.set(file, bytes),
      read: async (file, start, end) => (files.get(file) ?? pack).subarray(start, end),
    },
    budgetBytes: LIVE_BYTES_MAX,
    bases: NOTHING,
    listen: inspector?.onResolved ?? (() => {}),
  });
  show("second pass (CPU)", cpuSeconds(second), count);
  const idx = runNow(formatIdx(table, checksum, codec));
  if (inspector) {
    const third = process.cpuUsage();
    inspector.refuseErrors();
    const known = { generation: () => undefined };
    const sidecar = await makeSidecar(table, checksum, inspector, NOTHING, known);
    const bytes = runNow(formatSidecar(sidecar, codec)).length;
    show("sidecar (CPU)", cpuSeconds(third), count);
    const introduced = sidecar.introduced.length;
    console.log(`idx ${idx.length} B, sidecar ${bytes} B, ${introduced} objects introduced`);
  }
  show("all (CPU)", cpuSeconds(roundStart), count);
  const held = (report.peakBytes / 1e6).toFixed(1);
  console.log(
    `bases held: ${held} MB at most, ${(report.spilledBytes / 1e6).toFixed(1)} MB spilled`,
  );
}
