import { PackCatalog } from "../../../src/git/catalog/pack-catalog.ts";
import { PackedObjects } from "../../../src/git/catalog/packed-objects.ts";
import { CommitGraph } from "../../../src/git/walk/commit-graph.ts";
import { makePack } from "./packs.ts";
import { gitReader, storePack } from "./sidecars.ts";
import { MemorySource } from "./sources.ts";

export interface StoredHistory {
  readonly repository: string;
  readonly catalog: PackCatalog;
  readonly graph: CommitGraph;
  readonly objects: PackedObjects;
}

/** Opens all objects reachable from the refs of a repository, in one pack. */
export async function openHistory(repository: string): Promise<StoredHistory> {
  const pack = makePack(repository, [], ["--all", "--delta-base-offset"]);
  const stored = await storePack(pack, gitReader(repository));
  const catalog = new PackCatalog([{ ...stored, source: new MemorySource(stored.pack) }]);
  return {
    repository,
    catalog,
    graph: new CommitGraph(catalog),
    objects: new PackedObjects(catalog),
  };
}
