import { type Budget, runInTurns, UNLIMITED } from "../../../src/git/budget.ts";
import { PackInspector } from "../../../src/git/sidecar/pack-inspector.ts";
import { type KnownCommits, makeSidecar } from "../../../src/git/sidecar/make-sidecar.ts";
import type { Sidecar } from "../../../src/git/sidecar/sidecar-file.ts";
import { resolveDeltas } from "../../../src/git/pack/delta-resolver.ts";
import { formatIdx, IdxFile } from "../../../src/git/pack/idx-file.ts";
import { DEFAULT_PACK_LIMITS, type PackLimits } from "../../../src/git/pack/limits.ts";
import { PackScanner } from "../../../src/git/pack/pack-scanner.ts";
import { ThinPackCompletion } from "../../../src/git/pack/thin-pack.ts";
import type { ObjectReader, OutsideObjects, StoredObject } from "../../../src/git/store.ts";
import { codec } from "./codec.ts";
import { outsideOf } from "./outside.ts";
import { readByGit } from "./packs.ts";
import { STRICT_SEVERITIES } from "./severities.ts";
import { MemoryScratch, MemorySource } from "./sources.ts";

export interface StoredPack {
  readonly pack: Uint8Array;
  readonly idxBytes: Uint8Array;
  readonly idx: IdxFile;
  readonly sidecar: Sidecar;
  readonly inspector: PackInspector;
}

/** Reads objects of a repository with git, each once. */
export function gitReader(repository: string): ObjectReader {
  const known = new Map<string, StoredObject>();
  return {
    readObject: (oid) => {
      const found = known.get(oid) ?? readByGit(repository, oid);
      known.set(oid, found);
      return Promise.resolve(found);
    },
  };
}

interface StoreOptions {
  readonly budget?: Budget;
  readonly limits?: PackLimits;
}

/**
 * Processes a pushed pack: both passes, completion of a thin pack, checks, index and sidecar.
 *
 * @param repository The repository that it is pushed to; with only a reader, the pack may refer to
 *   all its objects.
 */
export async function storePack(
  pack: Uint8Array,
  repository: ObjectReader | OutsideObjects,
  generation: KnownCommits["generation"] = () => undefined,
  { budget = UNLIMITED, limits = DEFAULT_PACK_LIMITS }: StoreOptions = {},
): Promise<StoredPack> {
  const objects = "find" in repository ? repository : outsideOf(repository);
  let inspector: PackInspector | undefined;
  const scanner = new PackScanner(codec, limits, (entry, kind, content) =>
    inspector?.onWhole(entry, kind, content),
  );
  inspector = new PackInspector(scanner.table, STRICT_SEVERITIES);
  await runInTurns(scanner.push(pack), budget);
  const { table, checksum } = scanner.finish();
  const { externalOids } = await resolveDeltas(table, {
    source: new MemorySource(pack),
    codec,
    limits,
    budget,
    scratch: new MemoryScratch(),
    budgetBytes: 1024 * 1024,
    bases: objects,
    listen: inspector.onResolved,
  });
  const completion = new ThinPackCompletion(
    new MemorySource(pack),
    table,
    externalOids,
    objects,
    codec,
    budget,
  );
  const pieces: Uint8Array[] = [];
  if (externalOids.length > 0) {
    for await (const piece of completion.bytes()) pieces.push(piece);
  }
  const name = completion.checksum || checksum;
  inspector.refuseErrors();
  const sidecar = await makeSidecar(
    table,
    name,
    inspector,
    objects,
    { generation },
    undefined,
    budget,
  );
  const idxBytes = await runInTurns(formatIdx(table, name, codec), budget);
  return {
    pack: pieces.length > 0 ? Buffer.concat(pieces) : pack,
    idxBytes,
    idx: new IdxFile(idxBytes),
    sidecar,
    inspector,
  };
}
