import { resident } from "../catalog/block-pool.ts";
import { FewNumbers, LocationNumbers } from "../catalog/location-numbers.ts";
import type { ObjectLocation, PackCatalog } from "../catalog/pack-catalog.ts";
import type { PackedObjects } from "../catalog/packed-objects.ts";
import { overLimit } from "../error.ts";
import { COMMIT, kindOf, type ObjectKind, TAG, TREE } from "../object/kind.ts";
import type { Oid } from "../oid.ts";
import type { Gauge } from "../store.ts";
import type { CommitGraph } from "./commit-graph.ts";
import { tagTarget } from "./peel.ts";
import { ReachableCommits } from "./reachable-commits.ts";
import { walkTree } from "./tree-walk.ts";

/** A ref as a repository stores it. */
export interface RefTip {
  readonly name: string;
  readonly oid: Oid;
  /** The object to which an annotated tag peels; null for any other ref. */
  readonly peeledOid: Oid | null;
}

/** The parts of an open repository for reachability. The graph may be built on first use. */
export interface ReachableSource {
  readonly catalog: PackCatalog;
  readonly graph: CommitGraph;
  readonly objects: PackedObjects;
}

/**
 * Trees and blobs that are looked up one by one, each by a scan of the lists of introduced objects.
 * Beyond, a table of all objects is built, so that the cost stays linear.
 */
const SCANS_MAX = 64;
/**
 * The same where tables are read by block, so that a scan reads all lists from storage: beyond, a
 * request is refused.
 */
const BLOCK_SCANS_MAX = 64;

/**
 * Trees that are read below trees that refs name without a commit, with their bytes and depth:
 * objects beyond count as not reached.
 */
const TAGGED_TREES_MAX = 10_000;
const TAGGED_BYTES_MAX = 32 * 1024 * 1024;
const TAGGED_DEPTH_MAX = 1000;

/**
 * The objects of a repository that its refs reach, found as they are asked for.
 *
 * An object close to a ref is found without a walk of the whole history. A tree or blob is found by
 * the commits that introduce it, so no object is read, except below trees that a ref names without
 * a commit.
 */
export class ReachableObjects {
  private readonly source: ReachableSource;
  /** Refs of the repository, without those that are loaded when none of these reaches an object. */
  readonly refs: readonly RefTip[];
  private readonly gauge: Gauge;
  private readonly loadRest: (() => Promise<readonly RefTip[]>) | undefined;
  /** The objects that the other refs reach; undefined until they are loaded. */
  private rest: ReachableObjects | undefined;
  /** Indexes of the refs that an answer relied on. */
  private readonly used = new Set<number>();
  /** Indexes of refs by their value, and by the object to which a tag peels. */
  private knownValues: Map<Oid, number> | undefined;
  private knownCommits: ReachableCommits | undefined;
  /** Trees and blobs that were found by a scan, with the index of a ref. */
  private readonly scanned = new Map<Oid, number>();
  private scans = 0;
  private scannedNumbers = 0;
  /** For each object the index of a ref that reaches it through a commit, plus one. */
  private table: LocationNumbers | undefined;
  /** The same for objects below trees that a ref names without a commit. */
  private tagged: LocationNumbers | FewNumbers | undefined;

  /**
   * @param refs     Refs of the repository: all of them, or those that reach most objects.
   * @param loadRest Loads the others, once one of their objects may be asked for.
   */
  constructor(
    source: ReachableSource,
    refs: readonly RefTip[],
    gauge: Gauge = () => {},
    loadRest?: () => Promise<readonly RefTip[]>,
  ) {
    this.source = source;
    this.refs = refs;
    this.gauge = gauge;
    this.loadRest = loadRest;
  }

  /**
   * Counted work: commits walked, and numbers of the lists of introduced objects that were
   * compared.
   */
  get work(): { readonly commits: number; readonly numbers: number } {
    const rest = this.rest?.work;
    return {
      commits: (this.knownCommits?.walked ?? 0) + (rest?.commits ?? 0),
      numbers: this.scannedNumbers + (rest?.numbers ?? 0),
    };
  }

  /**
   * The refs that the answers so far relied on. While they keep their values, the answers stay
   * true.
   */
  get usedRefs(): RefTip[] {
    const own = [...this.used].map((at) => this.refs[at] as RefTip);
    return [...own, ...(this.rest?.usedRefs ?? [])];
  }

  /**
   * The kind of an object; undefined if no ref reaches it, or if it does not exist.
   *
   * SECURITY: both cases take the same walks to their end, and load the same refs, so that neither
   * time nor a limit tells them apart.
   */
  async find(oid: Oid): Promise<ObjectKind | undefined> {
    const { catalog } = this.source;
    const location = await resident(() => catalog.find(oid));
    const ref = location && (await this.findRef(oid, location));
    if (!location || ref === undefined) {
      this.commits.walkAll();
      await this.readTagged();
      return (await this.openRest())?.find(oid);
    }
    this.used.add(ref);
    return kindOf(await resident(() => catalog.kind(location)));
  }

  private async openRest(): Promise<ReachableObjects | undefined> {
    const refs = (await this.loadRest?.()) ?? [];
    if (refs.length > 0) this.rest ??= new ReachableObjects(this.source, refs, this.gauge);
    return this.rest;
  }

  /** The index of a ref that reaches the object at `location`. */
  private async findRef(oid: Oid, location: ObjectLocation): Promise<number | undefined> {
    const { catalog, graph } = this.source;
    const named = this.values.get(oid);
    if (named !== undefined) return named;
    const kind = await resident(() => catalog.kind(location));
    if (kind === TAG) return this.findTagged(location);
    if (kind === COMMIT) return this.commits.tipOf(graph.nodeAt(location));
    const introduced = catalog.isByBlock
      ? await this.findByBlock(oid, location)
      : this.findIntroducing(oid, location);
    return introduced ?? (await this.findTagged(location));
  }

  private get values(): Map<Oid, number> {
    if (this.knownValues) return this.knownValues;
    const values = new Map<Oid, number>();
    for (const [at, { oid, peeledOid }] of this.refs.entries()) {
      if (!values.has(oid)) values.set(oid, at);
      if (peeledOid !== null && !values.has(peeledOid)) values.set(peeledOid, at);
    }
    this.knownValues = values;
    return values;
  }

  private get commits(): ReachableCommits {
    if (this.knownCommits) return this.knownCommits;
    const { graph } = this.source;
    const tips = this.refs.map(({ oid, peeledOid }) => graph.find(peeledOid ?? oid));
    this.knownCommits = new ReachableCommits(graph, tips);
    this.measure();
    return this.knownCommits;
  }

  /** Finds a tree or blob by the commits that introduce it. */
  private findIntroducing(oid: Oid, location: ObjectLocation): number | undefined {
    const known = this.scanned.get(oid);
    if (known !== undefined) return known;
    if (this.scans === SCANS_MAX) {
      this.table ??= this.makeTable();
      const number = this.table.get(location);
      return number === 0 ? undefined : number - 1;
    }
    this.scans++;
    const { graph } = this.source;
    const { nodes, numbers } = graph.findIntroducing(location);
    this.scannedNumbers += numbers;
    // The newest first: it is the nearest to the refs.
    nodes.sort((a, b) => (graph.generations[b] as number) - (graph.generations[a] as number));
    for (const node of nodes) {
      const ref = this.commits.tipOf(node);
      if (ref === undefined) continue;
      this.scanned.set(oid, ref);
      return ref;
    }
    return undefined;
  }

  /**
   * `findIntroducing` where tables are read by block: an object's row names a commit that
   * introduces it, so that the lists are read only if no ref reaches that one and there are others.
   */
  private async findByBlock(oid: Oid, location: ObjectLocation): Promise<number | undefined> {
    const known = this.scanned.get(oid);
    if (known !== undefined) return known;
    const onScanned = (numbers: number): void => {
      this.scannedNumbers += numbers;
      if (++this.scans > BLOCK_SCANS_MAX) throw overLimit("too many objects of removed history");
    };
    for await (const node of this.source.graph.eachIntroducing(location, onScanned)) {
      const ref = this.commits.tipOf(node);
      if (ref === undefined) continue;
      this.scanned.set(oid, ref);
      return ref;
    }
    return undefined;
  }

  private makeTable(): LocationNumbers {
    const { catalog, graph } = this.source;
    const { commits } = this;
    const table = new LocationNumbers(catalog);
    commits.walkAll();
    for (let node = 0; node < graph.count; node++) {
      const ref = commits.tipOf(node);
      if (ref === undefined) continue;
      this.scannedNumbers += graph.introducedCount(node);
      graph.visitIntroduced(node, (location) => table.set(location, ref + 1));
    }
    this.table = table;
    this.measure();
    return table;
  }

  /**
   * Finds an object that a ref reaches without a commit: a tag of a tag, or below a tree that a ref
   * names.
   */
  private async findTagged(location: ObjectLocation): Promise<number | undefined> {
    const number = (await this.readTagged()).get(location);
    return number === 0 ? undefined : number - 1;
  }

  /** Reads the trees that refs name without a commit, and marks what is below them. */
  private async readTagged(): Promise<LocationNumbers | FewNumbers> {
    if (this.tagged) return this.tagged;
    const { catalog, objects } = this.source;
    const tagged = catalog.isByBlock ? new FewNumbers() : new LocationNumbers(catalog);
    let [trees, bytes] = [0, 0];
    for (const [at, { oid, peeledOid }] of this.refs.entries()) {
      const look = (): { tags: ObjectLocation[]; tree: ObjectLocation | undefined } => {
        const tags: ObjectLocation[] = [];
        let tag = peeledOid === null ? undefined : catalog.find(oid);
        for (; tag; tag = tagTarget(catalog, tag)) tags.push(tag);
        const value = catalog.find(peeledOid ?? oid);
        return { tags, tree: value && catalog.kind(value) === TREE ? value : undefined };
      };
      const { tags, tree } = catalog.isByBlock ? await resident(look) : look();
      for (const tag of tags) tagged.set(tag, at + 1);
      if (!tree) continue;
      await walkTree(catalog, objects, tree, (each, depth) => {
        if (depth > 0 && tagged.get(each) !== 0) return false;
        tagged.set(each, at + 1);
        if (catalog.kind(each) !== TREE) return false;
        trees++;
        bytes += catalog.sizeBytes(each);
        return trees <= TAGGED_TREES_MAX && bytes <= TAGGED_BYTES_MAX && depth < TAGGED_DEPTH_MAX;
      });
    }
    this.tagged = tagged;
    this.measure();
    return tagged;
  }

  private measure(): void {
    const { knownCommits, table, tagged } = this;
    const held = [knownCommits, table, tagged].map((each) => each?.heldBytes ?? 0);
    this.gauge(held.reduce((sum, bytes) => sum + bytes, 0));
  }
}
