import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { IdxFile } from "../../../src/git/pack/idx-file.ts";
import {
  type MergedPack,
  type PackMergeOptions,
  mergePacks,
} from "../../../src/git/catalog/merge-packs.ts";
import { type OpenPack, PackCatalog } from "../../../src/git/catalog/pack-catalog.ts";
import { PackedObjects } from "../../../src/git/catalog/packed-objects.ts";
import { parseSidecar } from "../../../src/git/sidecar/sidecar-file.ts";
import type { ByteSource } from "../../../src/git/store.ts";
import { codec } from "./codec.ts";
import { git, makeRepository } from "./git.ts";
import { makePack } from "./packs.ts";
import { storePack } from "./sidecars.ts";
import { MemorySource } from "./sources.ts";

/** A stored pack with the bytes of its files. */
export interface KeptPack extends OpenPack {
  readonly pack: Uint8Array;
  readonly idxBytes: Uint8Array;
}

/** Receives `pack` as a push to a repository that contains `before`. */
export async function receivePack(
  before: readonly KeptPack[],
  pack: Uint8Array,
): Promise<KeptPack> {
  const reader = new PackedObjects(new PackCatalog(before));
  const stored = await storePack(pack, reader, (oid) => findGeneration(before, oid));
  return { ...stored, source: new MemorySource(stored.pack) };
}

/** Returns the stored packs of pushes of each tip in turn, each thin against the previous tip. */
export async function receivePushes(
  repository: string,
  tips: readonly string[],
): Promise<KeptPack[]> {
  const packs: KeptPack[] = [];
  for (const [at, tip] of tips.entries()) {
    const revisions = at === 0 ? [tip] : [tip, "--not", tips[at - 1] as string];
    const thin = makePack(repository, revisions, ["--thin", "--delta-base-offset"]);
    packs.push(await receivePack(packs, thin));
  }
  return packs;
}

/** Merges packs and opens the result. */
export async function merge(
  packs: readonly OpenPack[],
  options: Partial<PackMergeOptions> = {},
): Promise<KeptPack & { merged: MergedPack }> {
  const pieces: Uint8Array[] = [];
  const merged = await mergePacks(packs, {
    codec,
    write: (piece) => Promise.resolve(void pieces.push(piece)),
    ...options,
  });
  const pack = Buffer.concat(pieces);
  const source: ByteSource = new MemorySource(pack);
  const { idxBytes } = merged;
  const sidecar = parseSidecar(merged.sidecarBytes, codec);
  return { pack, idxBytes, idx: new IdxFile(idxBytes), sidecar, source, merged };
}

/** Makes a bare repository with exactly these packs, and with `main` at `tip`. */
export function makeRepositoryOf(packs: readonly KeptPack[], tip: string): string {
  const directory = makeRepository();
  for (const { pack, idxBytes, idx } of packs) {
    const name = join(directory, `objects/pack/pack-${idx.packChecksum}`);
    writeFileSync(`${name}.pack`, pack, { mode: 0o444 });
    writeFileSync(`${name}.idx`, idxBytes, { mode: 0o444 });
  }
  git(directory, ["update-ref", "refs/heads/main", tip]);
  return directory;
}

/** Runs `git gc` in a repository and returns the size of its single pack in bytes. */
export function gcBytes(directory: string): number {
  git(directory, ["gc", "--quiet", "--prune=now"]);
  const directoryOfPacks = join(directory, "objects/pack");
  const packs = readdirSync(directoryOfPacks).filter((name) => name.endsWith(".pack"));
  if (packs.length !== 1) throw new Error(`${packs.length} packs`);
  return statSync(join(directoryOfPacks, packs[0] ?? "")).size;
}

function findGeneration(packs: readonly KeptPack[], oid: string): number | undefined {
  const raw = Buffer.from(oid, "hex");
  for (const { idx, sidecar } of packs) {
    const row = sidecar.commits.indexOf(idx.find(raw));
    if (row >= 0) return sidecar.generations[row];
  }
  return undefined;
}
