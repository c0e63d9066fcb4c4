import type { ArchiveEntry, ArchiveHead } from "../../../src/git/archive/archive-entry.ts";
import { listEntries } from "../../../src/git/archive/list-entries.ts";
import { readEntries } from "../../../src/git/archive/read-entries.ts";
import type { ByteText } from "../../../src/git/byte-text.ts";
import { parseCommit } from "../../../src/git/object/commit.ts";
import { toUtf8 } from "../../../src/git/object/reencode.ts";
import type { PackCatalog } from "../../../src/git/catalog/pack-catalog.ts";
import type { PackedObjects } from "../../../src/git/catalog/packed-objects.ts";
import { codec } from "../support/codec.ts";

export interface OpenObjects {
  readonly catalog: PackCatalog;
  readonly objects: PackedObjects;
}

/** The entries of a commit's archive, below `top/`. */
export async function openEntries(
  { catalog, objects }: OpenObjects,
  oid: string,
  decorations: readonly string[] = [],
): Promise<{ head: ArchiveHead; entries: AsyncIterable<ArchiveEntry> }> {
  const found = await objects.readObject(oid);
  if (!found) throw new Error(`${oid} does not exist`);
  const commit = toUtf8(parseCommit(found.content));
  const root = catalog.find(commit.treeOid);
  if (!root) throw new Error("no root");
  const entries = readEntries(catalog, objects, listEntries(catalog, objects, root), {
    prefix: "top/" as ByteText,
    commit: {
      oid,
      commit,
      decorations: decorations as ByteText[],
      abbreviate: (each) => each.slice(0, 7),
    },
    stream: (location) => objects.streamAt(location),
    codec,
    gauge: () => {},
  });
  return { head: { commitOid: oid, timeSeconds: commit.committer.timeSeconds }, entries };
}

export async function collect(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}
