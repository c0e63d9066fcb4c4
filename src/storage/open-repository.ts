import { type OpenPack, PackCatalog } from "../git/pack/pack-catalog.ts";
import { PackedObjects } from "../git/pack/packed-objects.ts";
import { CommitGraph } from "../git/walk/commit-graph.ts";

/** A repository at one moment, open for reading. */
export class OpenRepository {
  readonly catalog: PackCatalog;
  readonly objects: PackedObjects;
  private knownGraph: CommitGraph | undefined;

  constructor(packs: readonly OpenPack[]) {
    this.catalog = new PackCatalog(packs);
    this.objects = new PackedObjects(this.catalog);
  }

  /** All commits. Made when first asked for, since most reads of single objects need none. */
  get graph(): CommitGraph {
    this.knownGraph ??= new CommitGraph(this.catalog);
    return this.knownGraph;
  }

  /** The same with one more pack, which is the youngest. */
  with(pack: OpenPack): OpenRepository {
    return new OpenRepository([...this.catalog.packs, pack]);
  }
}
