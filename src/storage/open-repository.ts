import { type OpenPack, PackCatalog } from "../git/catalog/pack-catalog.ts";
import { PackedObjects } from "../git/catalog/packed-objects.ts";
import type { Gauge } from "../git/store.ts";
import { CommitGraph } from "../git/walk/commit-graph.ts";
import type { ResultCache } from "./result-cache.ts";
import { LruCache } from "./lru-cache.ts";

/**
 * Commit graphs by list of packs, bounded in bytes. The weight includes the pack tables that a graph
 * references.
 */
const graphs = new LruCache<CommitGraph>(16 * 1024 * 1024);

/** Approximate bytes of an object's row in the tables of a pack. */
const TABLE_ROW_BYTES = 60;

/** A snapshot of a repository with its packs open for reading. */
export class OpenRepository {
  readonly catalog: PackCatalog;
  readonly objects: PackedObjects;
  /** Cached results computed from the repository's git data. */
  readonly results: ResultCache;
  private readonly openGauge: () => Gauge;
  private readonly graphKey: string | undefined;
  private knownGraph: CommitGraph | undefined;

  /**
   * @param openGauge Creates gauges for bytes that reading keeps in memory.
   * @param graphKey  Identifies exactly this list of packs; undefined keeps the graph out of the cache.
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

  /** The graph of all commits. Built on first use, since most reads of single objects need no graph. */
  get graph(): CommitGraph {
    if (this.knownGraph) return this.knownGraph;
    const graph = (this.graphKey && graphs.get(this.graphKey)) || this.makeGraph();
    this.openGauge()(graph.heldBytes);
    this.knownGraph = graph;
    return graph;
  }

  /** The graph of the commits of one pack. Parents in other packs count as missing. */
  graphOf(pack: OpenPack): CommitGraph {
    const graph = new CommitGraph(new PackCatalog([pack]));
    this.openGauge()(graph.heldBytes);
    return graph;
  }

  private makeGraph(): CommitGraph {
    // Built from the tables alone: pack reads belong to this request, and the cached graph outlives it.
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

  /** The same repository with one more pack, as its newest. */
  with(pack: OpenPack): OpenRepository {
    return new OpenRepository([...this.catalog.packs, pack], this.results, this.openGauge);
  }
}

const refuseRead = (): Promise<never> => Promise.reject(new Error("a graph reads no pack"));
