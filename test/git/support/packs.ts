import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runNow } from "../../../src/git/budget.ts";
import { only } from "../../../src/lib/only.ts";
import type { ObjectKind } from "../../../src/git/object/kind.ts";
import { type ResolveOptions, resolveDeltas } from "../../../src/git/pack/delta-resolver.ts";
import { DEFAULT_PACK_LIMITS } from "../../../src/git/pack/limits.ts";
import type { PackKernel } from "../../../src/git/pack/pack-kernel.ts";
import { PackScanner } from "../../../src/git/pack/pack-scanner.ts";
import type { StoredObject } from "../../../src/git/store.ts";
import { codec } from "./codec.ts";
import { git, gitBytes, makeDirectory } from "./git.ts";
import { outsideOf } from "./outside.ts";
import { makeReader, MemoryScratch, MemorySource } from "./sources.ts";

/**
 * Makes a pack of the objects reachable from `revisions` with git. Each revision is a line of
 * input, `--not` included.
 */
export function makePack(
  repository: string,
  revisions: readonly string[],
  options: readonly string[] = [],
): Buffer {
  return gitBytes(
    repository,
    ["pack-objects", "--revs", "--stdout", "--quiet", "--threads=1", ...options],
    { input: revisions.map((revision) => `${revision}\n`).join("") },
  );
}

/** Indexes a pack with git; returns its index, the repository and the pack's name. */
export function indexByGit(pack: Uint8Array): { idx: Buffer; directory: string; name: string } {
  const directory = makeDirectory();
  git(directory, ["init", "--quiet", "--bare"]);
  const name = git(directory, ["index-pack", "--stdin", "--index-version=2"], {
    input: pack,
  }).replace(/^pack\t/, "");
  const idx = readFileSync(join(directory, "objects/pack", `pack-${name}.idx`));
  return { idx, directory, name };
}

/** Scans a pack in chunks of `chunkBytes`. */
export function scan(
  pack: Uint8Array,
  chunkBytes = pack.length,
  limits = DEFAULT_PACK_LIMITS,
  kernel?: PackKernel,
) {
  const scanner = new PackScanner(codec, limits, () => {}, kernel);
  for (let at = 0; at < pack.length; at += chunkBytes) {
    runNow(scanner.push(pack.subarray(at, at + chunkBytes)));
  }
  return scanner.finish();
}

/** Runs both passes over a pack. */
export async function index(pack: Uint8Array, options: Partial<ResolveOptions> = {}) {
  const scanned = scan(pack, pack.length, options.limits, options.kernel);
  const report = await resolveDeltas(scanned.table, {
    source: new MemorySource(pack),
    codec,
    limits: DEFAULT_PACK_LIMITS,
    scratch: new MemoryScratch(),
    budgetBytes: 16 * 1024 * 1024,
    bases: outsideOf(makeReader(new Map())),
    listen: () => {},
    ...options,
  });
  return { ...scanned, report };
}

/** Reads an object with git. */
export function readByGit(repository: string, oid: string): StoredObject {
  const batch = gitBytes(repository, ["cat-file", "--batch"], { input: `${oid}\n` });
  return only([...parseBatch(batch).values()]);
}

/** The objects that `git cat-file --batch` prints, by their ids. @throws if it misses one. */
export function parseBatch(batch: Buffer): Map<string, StoredObject> {
  const objects = new Map<string, StoredObject>();
  for (let at = 0; at < batch.length;) {
    const lineEnd = batch.indexOf(10, at);
    const [oid = "", kind, size] = batch.subarray(at, lineEnd).toString().split(" ");
    if (size === undefined) throw new Error(`git has no object ${oid}`);
    const end = lineEnd + 1 + Number(size);
    objects.set(oid, { kind: kind as ObjectKind, content: batch.subarray(lineEnd + 1, end) });
    at = end + 1;
  }
  return objects;
}
