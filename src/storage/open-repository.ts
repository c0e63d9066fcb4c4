import type { Budget } from "../git/budget.ts";
import { type OpenPack, PackCatalog } from "../git/catalog/pack-catalog.ts";
import { PackedObjects } from "../git/catalog/packed-objects.ts";
import type { Gauge } from "../git/store.ts";
import { CommitGraph } from "../git/walk/commit-graph.ts";
import { ReachableObjects } from "../git/walk/reachable-objects.ts";
import { StepBudget } from "../lib/step-budget.ts";
import type { SnapshotRefs } from "./repository-records.ts";
import type { ResultCache } from "./result-cache.ts";
import { LruCache } from "../lib/lru-cache.ts";

/** The tables of commit graphs by list of packs, bounded in bytes. */
const graphs = new LruCache<CommitGraph>(16 * 1024 * 1024);

/** Approximate bytes of a graph's objects, besides its tables. */
const GRAPH_BYTES = 2 * 1024;

/** A snapshot of a repository with its packs open for reading. */
export class OpenRepository {
  readonly catalog: PackCatalog;
  readonly objects: PackedObjects;
  /** Cached results computed from the repository's git data. */
  readonly results: ResultCache;
  private readonly openGauge: () => Gauge;
  /** Identifies exactly this list of packs, and how their objects are numbered. */
  readonly packsKey: string | undefined;
  private readonly budget: Budget;
  private knownGraph: CommitGraph | undefined;

  /**
   * @param openGauge Creates gauges for bytes that reading keeps in memory.
   * @param packsKey  Identifies exactly this list of packs; undefined keeps the graph out of the
   *   cache.
   * @param budget   Bounds the reads of objects, except those within a budget of their own.
   */
  constructor(
    packs: readonly OpenPack[],
    results: ResultCache,
    openGauge: () => Gauge,
    packsKey?: string,
    budget: Budget = new StepBudget(Infinity),
  ) {
    this.budget = budget;
    this.results = results;
    this.openGauge = openGauge;
    this.catalog = new PackCatalog(packs);
    // Commits are numbered in another order where tables are read by block.
    this.packsKey = this.catalog.isByBlock && packsKey ? `${packsKey} by block` : packsKey;
    this.objects = new PackedObjects(this.catalog, openGauge(), budget);
  }

  /**
   * The graph of all commits. Built on first use, since most reads of single objects need no graph.
   */
  get graph(): CommitGraph {
    if (this.knownGraph) return this.knownGraph;
    const kept = this.packsKey === undefined ? undefined : graphs.get(this.packsKey);
    const graph = kept ? new CommitGraph(this.catalog, kept) : this.makeGraph();
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
    const graph = new CommitGraph(this.catalog);
    if (this.packsKey) {
      // Without the packs, whose reads belong to this request: the cached graph outlives it.
      const kept = new CommitGraph(new PackCatalog([]), graph);
      graphs.set(this.packsKey, kept, GRAPH_BYTES + graph.heldBytes);
    }
    return graph;
  }

  /** The same repository with one more pack, as its newest. */
  with(pack: OpenPack): OpenRepository {
    const packs = [...this.catalog.packs, pack];
    return new OpenRepository(packs, this.results, this.openGauge, undefined, this.budget);
  }
}
