/**
 * `npm run bench:engine`: the hand-written parts of the engine, compared with the platform's
 * equivalents.
 *
 * docs/architecture.md states the conclusions. Runs in Node, whose zlib and crypto workerd has too.
 */
import { createHash } from "node:crypto";
import { deflateRawSync, deflateSync, inflateSync } from "node:zlib";

import type { ArchiveEntry } from "../src/git/archive/archive-entry.ts";
import { formatZip } from "../src/git/archive/zip.ts";
import { encodeText } from "../src/git/byte-text.ts";
import { Sha1 } from "../src/git/hash/sha1.ts";
import { Inflater } from "../src/git/zlib/inflate.ts";
import { compressor } from "../src/storage/compressor.ts";
import { openKernel } from "./support/kernel.ts";
import { describeMachine } from "./support/machine.ts";
import { median } from "./support/statistics.ts";
import { formatCells, formatInteger } from "./support/table.ts";

const SIZES_BYTES = [100, 300, 1000, 2048, 4096, 16_384, 65_536, 1_048_576];
const MEASUREMENT_MS = 60;
const ROUNDS = 3;
const ZIP_FILES = 2000;
const ZIP_FILE_BYTES = 10_000;
/** Larger contents are left to the engine. */
const KERNEL_BYTES_MAX = 256 * 1024;
const NO_OID = "0".repeat(40);
const WORDS =
  "const await return export function readonly string number undefined import from of".split(" ");

const kernel = await openKernel();

console.log(describeMachine());
console.log("\ninflating one object from a pack, where other bytes follow its stream\n");
console.log(
  formatCells(
    ["bytes", "ours MB/s", "kernel MB/s", "zlib MB/s", "ours/zlib", "kernel/zlib"],
    SIZES_BYTES.map(inflating),
  ),
);
console.log("\nSHA-1 of one object\n");
console.log(
  formatCells(["bytes", "ours MB/s", "node MB/s", "ours/node"], SIZES_BYTES.map(hashing)),
);
console.log(
  `\na zip of ${formatInteger(ZIP_FILES)} files of ${formatInteger(ZIP_FILE_BYTES)} bytes\n`,
);
console.log(formatCells(["method", "MB/s", "memory kB"], await zipping()));

function inflating(sizeBytes: number): string[] {
  const content = makeText(sizeBytes);
  const stream = deflateSync(content);
  // Bytes of a next entry: zlib alone does not report where the stream ends.
  const pack = Buffer.concat([stream, Buffer.alloc(64, 0x9c)]);
  const inflater = new Inflater();
  const output = new Uint8Array(sizeBytes);

  const ours = (): void => {
    inflater.reset();
    const status = inflater.run(pack, 0, pack.length, output, 0, sizeBytes);
    if (status !== "done" || inflater.inputOffset !== stream.length)
      throw new Error("the inflated length is wrong");
  };
  const byKernel = (): Uint8Array | undefined => kernel.inflate(pack, 0, stream.length, sizeBytes);
  const host = (): Buffer => inflateSync(stream, { chunkSize: sizeBytes + 1 });
  ours();
  const isTaken = sizeBytes <= KERNEL_BYTES_MAX;
  const isWrong = isTaken && !content.equals(byKernel() ?? Buffer.alloc(0));
  if (isWrong || !content.equals(output) || !content.equals(host()))
    throw new Error("the inflated content is wrong");
  const cells = compare(sizeBytes, [ours, byKernel, host]);
  return isTaken ? cells : cells.map((cell, at) => (at === 2 || at === 5 ? "-" : cell));
}

function hashing(sizeBytes: number): string[] {
  const content = makeText(sizeBytes);
  const hasher = new Sha1();
  const digest = new Uint8Array(20);

  const ours = (): void => hasher.update(content).digestInto(digest);
  const host = (): Buffer => createHash("sha1").update(content).digest();
  ours();
  if (!host().equals(digest)) throw new Error("the hashes differ");
  return compare(sizeBytes, [ours, host]);
}

/**
 * Measures the engine's zip writer, and the minimum of a writer with all files in memory: deflating
 * them in turn.
 */
async function zipping(): Promise<string[][]> {
  const files = Array.from({ length: ZIP_FILES }, (_, at) => makeText(ZIP_FILE_BYTES, at));
  const totalBytes = ZIP_FILES * ZIP_FILE_BYTES;
  async function* entries(): AsyncGenerator<ArchiveEntry> {
    for (const [at, content] of files.entries()) {
      const path = encodeText(`top/file-${at}.txt`);
      yield {
        path,
        mode: 0o100_644,
        oid: NO_OID,
        sizeBytes: content.length,
        content,
        isBinary: undefined,
      };
    }
  }

  let [from, pieceBytesMax] = [process.cpuUsage(), 0];
  for await (const piece of formatZip(
    { commitOid: NO_OID, timeSeconds: 0 },
    entries(),
    compressor,
  )) {
    pieceBytesMax = Math.max(pieceBytesMax, piece.length);
  }
  // The writer keeps a central directory header per file until the end: about 70 bytes and the
  // path.
  const headersBytes = ZIP_FILES * (70 + "top/file-1000.txt".length);
  const ours = [cpuMs(from), pieceBytesMax + headersBytes] as const;

  from = process.cpuUsage();
  const heldBytes = files.reduce((sum, file) => sum + deflateRawSync(file).length, 0);
  const least = [cpuMs(from), totalBytes + heldBytes] as const;

  const line = (method: string, [ms, bytes]: readonly [number, number]): string[] => [
    method,
    (totalBytes / 1e3 / ms).toFixed(0),
    formatInteger(bytes / 1000),
  ];
  return [line("engine, streaming", ours), line("deflate only, all files in memory", least)];
}

/**
 * Columns of a size: the rate of each implementation, and those of ours relative to the last one,
 * the platform's.
 */
function compare(sizeBytes: number, implementations: readonly (() => unknown)[]): string[] {
  // Alternating, so that other load on the machine affects all.
  const rounds = Array.from({ length: ROUNDS }, () => implementations.map(rateOf));
  const rates = implementations.map((_, at) => median(rounds.map((round) => round[at] ?? 0)));
  const host = rates.at(-1) ?? Number.NaN;
  const megabytes = rates.map((rate) => ((rate * sizeBytes) / 1e3).toFixed(0));
  const ratios = rates.slice(0, -1).map((rate) => (rate / host).toFixed(2));
  return [formatInteger(sizeBytes), ...megabytes, ...ratios];
}

/** Calls per millisecond of CPU time. */
function rateOf(work: () => unknown): number {
  const from = process.cpuUsage();
  let calls = 0;
  for (let batch = 1; cpuMs(from) < MEASUREMENT_MS; batch = Math.min(batch * 2, 256)) {
    for (let call = 0; call < batch; call++) work();
    calls += batch;
  }
  return calls / cpuMs(from);
}

function cpuMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
}

/** Text that deflates to about a third, as code does; the same in every run. */
function makeText(sizeBytes: number, seed = 1): Buffer {
  let state = seed + 1;
  let text = "";
  while (text.length < sizeBytes) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    text += `${WORDS[(state >>> 16) % WORDS.length] ?? ""}${state % 7 === 0 ? `(${state % 1000});\n  ` : " "}`;
  }
  return Buffer.from(text.slice(0, sizeBytes));
}
