import { type OpenPack, PackCatalog } from "../git/catalog/pack-catalog.ts";
import { PackedObjects } from "../git/catalog/packed-objects.ts";
import type { Gauge } from "../git/store.ts";
import { CommitGraph } from "../git/walk/commit-graph.ts";
import type { ResultCache } from "./result-cache.ts";
import { LruCache } from "./lru-cache.ts";

/** Commits of lists of packs that were read lately, in bytes: with the tables of the packs, which they hold. */
const graphs = new LruCache<CommitGraph>(16 * 1024 * 1024);

/** Bytes of a commit's or an object's row in the tables of a pack, about. */
const TABLE_ROW_BYTES = 60;

/** A repository at one moment, open for reading. */
export class OpenRepository {
  readonly catalog: PackCatalog;
  readonly objects: PackedObjects;
  /** What was worked out of it before. */
  readonly results: ResultCache;
  private readonly openGauge: () => Gauge;
  private readonly graphKey: string | undefined;
  private knownGraph: CommitGraph | undefined;

  /**
   * @param openGauge For what reading holds in memory.
   * @param graphKey  What these packs and no others are called, all together.
   */
  constructor(
    packs: readonly OpenPack[],
    results: ResultCache,
    openGauge: () => Gauge,
    graphKey?: string,
  ) {
    this.results = results;
    this.openGauge = openGauge;
    this.graphKey = graphKey;
    this.catalog = new PackCatalog(packs);
    this.objects = new PackedObjects(this.catalog, openGauge());
  }

  /** All commits. Made when first asked for, since most reads of single objects need none. */
  get graph(): CommitGraph {
    if (this.knownGraph) return this.knownGraph;
    const graph = (this.graphKey && graphs.get(this.graphKey)) || this.makeGraph();
    this.openGauge()(graph.heldBytes);
    this.knownGraph = graph;
    return graph;
  }

  /** The commits of one pack alone; their parents elsewhere are in no pack. */
  graphOf(pack: OpenPack): CommitGraph {
    const graph = new CommitGraph(new PackCatalog([pack]));
    this.openGauge()(graph.heldBytes);
    return graph;
  }

  private makeGraph(): CommitGraph {
    // By the tables alone: the files are read on behalf of this request, which the graph outlives.
    const packs = this.catalog.packs.map(({ idx, sidecar, source: { sizeBytes } }) => ({
      idx,
      sidecar,
      source: { sizeBytes, read: refuseRead },
    }));
    const graph = new CommitGraph(new PackCatalog(packs));
    const rows = packs.reduce((sum, { idx }) => sum + idx.count, 0);
    if (this.graphKey) {
      graphs.set(this.graphKey, graph, graph.heldBytes + TABLE_ROW_BYTES * rows);
    }
    return graph;
  }

  /** The same with one more pack, which is the youngest. */
  with(pack: OpenPack): OpenRepository {
    return new OpenRepository([...this.catalog.packs, pack], this.results, this.openGauge);
  }
}

const refuseRead = (): Promise<never> => Promise.reject(new Error("a graph reads no pack"));
