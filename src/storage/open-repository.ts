import { type Budget, UNLIMITED } from "../git/budget.ts";
import { type OpenPack, PackCatalog } from "../git/catalog/pack-catalog.ts";
import { PackedObjects } from "../git/catalog/packed-objects.ts";
import type { Gauge } from "../git/store.ts";
import { CommitGraph } from "../git/walk/commit-graph.ts";
import { ReachableObjects } from "../git/walk/reachable-objects.ts";
import type { SnapshotRefs } from "./repository-records.ts";
import type { ResultCache } from "./result-cache.ts";
import { LruCache } from "./lru-cache.ts";
import { OPEN_PACK_BYTES } from "./pack-files.ts";

/**
 * Commit graphs by list of packs, bounded in bytes. The weight includes the pack tables that a graph
 * references.
 */
const graphs = new LruCache<CommitGraph>(16 * 1024 * 1024);

/** Approximate bytes of a graph's objects, besides its tables. */
const GRAPH_BYTES = 2 * 1024;

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
  private readonly budget: Budget;
  private knownGraph: CommitGraph | undefined;

  /**
   * @param openGauge Creates gauges for bytes that reading keeps in memory.
   * @param graphKey  Identifies exactly this list of packs; undefined keeps the graph out of the cache.
   * @param budget   Bounds the reads of objects, except those within a budget of their own.
   */
  constructor(
    packs: readonly OpenPack[],
    results: ResultCache,
    openGauge: () => Gauge,
    graphKey?: string,
    budget: Budget = UNLIMITED,
  ) {
    this.budget = budget;
    this.results = results;
    this.openGauge = openGauge;
    this.graphKey = graphKey;
    this.catalog = new PackCatalog(packs);
    this.objects = new PackedObjects(this.catalog, openGauge(), budget);
  }

  /** The graph of all commits. Built on first use, since most reads of single objects need no graph. */
  get graph(): CommitGraph {
    if (this.knownGraph) return this.knownGraph;
    const graph = (this.graphKey && graphs.get(this.graphKey)) || this.makeGraph();
    this.openGauge()(graph.heldBytes);
    this.knownGraph = graph;
    return graph;
  }

  /** The objects that the refs of a snapshot reach, and those of pull requests that it lacks. */
  reachableFrom({ refs, loadPullRefs }: SnapshotRefs): ReachableObjects {
    return new ReachableObjects(this, refs, this.openGauge(), loadPullRefs);
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
      const tableBytes = OPEN_PACK_BYTES * packs.length + TABLE_ROW_BYTES * rows;
      graphs.set(this.graphKey, graph, GRAPH_BYTES + graph.heldBytes + tableBytes);
    }
    return graph;
  }

  /** The same repository with one more pack, as its newest. */
  with(pack: OpenPack): OpenRepository {
    const packs = [...this.catalog.packs, pack];
    return new OpenRepository(packs, this.results, this.openGauge, undefined, this.budget);
  }
}

const refuseRead = (): Promise<never> => Promise.reject(new Error("a graph reads no pack"));
