import { OID_BYTES } from "../oid.ts";
import { LEFT_OUT, type MergedObjects } from "./merged-objects.ts";
import { NumberList } from "../sidecar/number-list.ts";
import { OidPool } from "../sidecar/oid-pool.ts";
import type { Sidecar } from "../sidecar/sidecar-file.ts";

/** Marks a reference that is not mapped yet. */
const UNKNOWN = 0xffffffff;

/**
 * Builds the sidecar of a merged pack from the sidecars of its parts, without reading objects.
 *
 * A commit or tag is taken from the oldest pack whose sidecar has a row for it. A base appended to
 * complete a thin pack has no row in that pack's sidecar.
 *
 * @param checksum Hash of the merged pack, in hex.
 * @param bases Base of each object in the merged pack, -1 for an object stored whole.
 */
export function mergeSidecars(
  objects: MergedObjects,
  checksum: string,
  bases: Int32Array,
): Sidecar {
  const refs = new RefMap(objects);
  const commitSources = findSources(objects, (sidecar) => sidecar.commits);
  const count = commitSources.objects.length;
  const times = new Float64Array(count);
  const roots = new Uint32Array(count);
  const generations = new Uint32Array(count);
  const parentStarts = new Uint32Array(count + 1);
  const introducedStarts = new Uint32Array(count + 1);
  const parents = new NumberList();
  const introduced = new NumberList();
  for (let commit = 0; commit < count; commit++) {
    const pack = commitSources.packs[commit] as number;
    const row = commitSources.rows[commit] as number;
    const { sidecar } = objects.pack(pack);
    times[commit] = sidecar.times[row] as number;
    generations[commit] = sidecar.generations[row] as number;
    roots[commit] = refs.map(pack, sidecar.roots[row] as number);
    copyRow(sidecar.parentStarts, sidecar.parents, row, (ref) => parents.push(refs.map(pack, ref)));
    parentStarts[commit + 1] = parents.length;
    copyRow(sidecar.introducedStarts, sidecar.introduced, row, (ref) =>
      introduced.push(refs.map(pack, ref)),
    );
    introducedStarts[commit + 1] = introduced.length;
  }
  const tagSources = findSources(objects, (sidecar) => sidecar.tags);
  const tagTargets = Uint32Array.from(tagSources.objects, (_, tag) => {
    const pack = tagSources.packs[tag] as number;
    const row = tagSources.rows[tag] as number;
    return refs.map(pack, objects.pack(pack).sidecar.tagTargets[row] as number);
  });
  return {
    packChecksum: checksum,
    kinds: objects.kinds.slice(0, objects.count),
    sizes: objects.sizes.slice(0, objects.count),
    bases,
    outsideOids: refs.outsideOids(),
    commits: commitSources.objects,
    roots,
    times,
    generations,
    parentStarts,
    parents: parents.view().slice(),
    introducedStarts,
    introduced: introduced.view().slice(),
    tags: tagSources.objects,
    tagTargets,
  };
}

/** Maps object references of the parts' sidecars to those of the merged sidecar. */
class RefMap {
  private readonly objects: MergedObjects;
  private readonly outside = new OidPool();
  /** The merged reference of each row of each pack's `outsideOids`, mapped on first use. */
  private readonly rows: readonly Uint32Array[];

  constructor(objects: MergedObjects) {
    this.objects = objects;
    this.rows = objects.packs.map(({ sidecar }) =>
      new Uint32Array(sidecar.outsideOids.length / OID_BYTES).fill(UNKNOWN),
    );
  }

  map(pack: number, ref: number): number {
    const objects = this.objects.objects[pack] as Uint32Array;
    if (ref < objects.length) {
      const object = objects[ref] as number;
      if (object !== LEFT_OUT) return object;
      const { oids } = this.objects.pack(pack).idx;
      return this.objects.count + this.outside.add(oids, ref * OID_BYTES);
    }
    const rows = this.rows[pack] as Uint32Array;
    const row = ref - objects.length;
    if (rows[row] === UNKNOWN) {
      const { outsideOids } = this.objects.pack(pack).sidecar;
      const object = this.objects.find(outsideOids, row * OID_BYTES);
      rows[row] =
        object >= 0 ? object : this.objects.count + this.outside.add(outsideOids, row * OID_BYTES);
    }
    return rows[row] as number;
  }

  outsideOids(): Uint8Array {
    return this.outside.oids.slice(0, this.outside.count * OID_BYTES);
  }
}

/** Rows of one table of all sidecars, one per object, sorted by object. */
interface Sources {
  readonly objects: Uint32Array;
  readonly packs: Uint16Array;
  readonly rows: Uint32Array;
}

function findSources(
  objects: MergedObjects,
  positionsOf: (sidecar: Sidecar) => Uint32Array,
): Sources {
  // Pack and row plus one of each object that has a row.
  const packs = new Uint16Array(objects.count);
  const rows = new Uint32Array(objects.count);
  let count = 0;
  for (const [pack, { sidecar }] of objects.packs.entries()) {
    const objectsOf = objects.objects[pack] as Uint32Array;
    for (const [row, position] of positionsOf(sidecar).entries()) {
      const object = objectsOf[position] as number;
      if (object === LEFT_OUT || rows[object] !== 0) continue;
      packs[object] = pack;
      rows[object] = row + 1;
      count++;
    }
  }
  const sources = {
    objects: new Uint32Array(count),
    packs: new Uint16Array(count),
    rows: new Uint32Array(count),
  };
  let at = 0;
  for (let object = 0; object < objects.count; object++) {
    if (rows[object] === 0) continue;
    sources.objects[at] = object;
    sources.packs[at] = packs[object] as number;
    sources.rows[at++] = (rows[object] as number) - 1;
  }
  return sources;
}

function copyRow(
  starts: Uint32Array,
  refs: Uint32Array,
  row: number,
  take: (ref: number) => void,
): void {
  const end = starts[row + 1] as number;
  for (let at = starts[row] as number; at < end; at++) take(refs[at] as number);
}
