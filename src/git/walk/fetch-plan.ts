import { missing } from "../error.ts";
import { BLOB, COMMIT, TAG, TREE } from "../object/kind.ts";
import type { Oid } from "../oid.ts";
import type { PackCatalog, ObjectLocation } from "../catalog/pack-catalog.ts";
import type { PackedObjects } from "../catalog/packed-objects.ts";
import { LocationSet } from "../catalog/location-set.ts";
import type { ObjectFilter } from "../wire/filter-spec.ts";
import { type CommitGraph, NO_NODE, type Node } from "./commit-graph.ts";
import { findRange, logByTime } from "./log.ts";
import { peel, tagTarget } from "./peel.ts";
import type { ShallowCut } from "./shallow.ts";
import { walkTree } from "./tree-walk.ts";

/** How many of the client's commits, latest first, provide delta bases for a thin pack. */
const BASE_COMMITS_MAX = 2000;

/** The wants and haves of a client, and the options of its fetch. */
export interface FetchNeeds {
  /** Objects of any kind. SECURITY: the caller checks that the client may read them. */
  readonly wantOids: readonly Oid[];
  /** Objects that the client has; unknown ids are ignored. */
  readonly haveOids: readonly Oid[];
  /** Commits that the client has without their parents. */
  readonly clientShallowOids: readonly Oid[];
  /** The boundary at which the history sent to the client is cut. */
  readonly cut: ShallowCut | undefined;
  readonly filter: ObjectFilter | undefined;
  /** Annotated tags; each is included if the object it points to is sent. */
  readonly tags: readonly { readonly tagOid: Oid; readonly peeledOid: Oid }[];
  /** The pack may be thin. */
  readonly isThin: boolean;
}

export interface FetchPlan {
  readonly wanted: LocationSet;
  /** Objects that the client certainly has; undefined unless the pack may be thin. */
  readonly receiverHas: LocationSet | undefined;
}

/**
 * Selects the objects that a client lacks of everything its wants reach.
 *
 * A plain fetch reads no object: the graph lists the objects that each commit introduces. Trees are read
 * only where history is cut, where the cut makes such a list incomplete, or for a filter by tree depth.
 *
 * @throws GitError `missing` if a wanted object does not exist.
 */
export async function planFetch(
  graph: CommitGraph,
  catalog: PackCatalog,
  packed: PackedObjects,
  needs: FetchNeeds,
): Promise<FetchPlan> {
  const planner = new FetchPlanner(graph, catalog, packed, needs);
  return planner.run();
}

class FetchPlanner {
  private readonly graph: CommitGraph;
  private readonly catalog: PackCatalog;
  private readonly packed: PackedObjects;
  private readonly needs: FetchNeeds;
  private readonly wanted: LocationSet;
  /** Objects requested by id; they are sent even if the filter excludes them. */
  private readonly requested: LocationSet;
  /** The least depth at which each tree was entered, for filters by tree depth. */
  private readonly depths = new Map<string, number>();

  constructor(graph: CommitGraph, catalog: PackCatalog, packed: PackedObjects, needs: FetchNeeds) {
    this.graph = graph;
    this.catalog = catalog;
    this.packed = packed;
    this.needs = needs;
    this.wanted = new LocationSet(catalog);
    this.requested = new LocationSet(catalog);
  }

  async run(): Promise<FetchPlan> {
    const { graph, needs, wanted } = this;
    const tips: Node[] = [];
    const loose: ObjectLocation[] = [];
    for (const oid of needs.wantOids) await this.addWant(oid, tips, loose);

    const haves = await this.findHaves();
    const clientCut = new Set(needs.clientShallowOids.map((oid) => graph.find(oid)));
    const range = this.findCommits(tips, haves, clientCut);
    for (const node of range.commits) wanted.add(graph.location(node));
    if (needs.filter?.treeDepthLimit === undefined) {
      for (const node of range.listed) {
        graph.visitIntroduced(node, (location) => {
          if (this.passes(location)) wanted.add(location);
        });
      }
      await this.addWholeTrees(range.whole, range.boundary);
    } else {
      for (const node of range.commits) await this.addTreeToDepth(graph.root(node));
    }
    for (const location of loose) await this.addLoose(location);
    this.addTags();
    return { wanted, receiverHas: this.findReceiverHas(haves, clientCut) };
  }

  /** Adds a want: a commit to `tips`, a tree or blob to `loose`; a tag is added with its target. */
  private async addWant(oid: Oid, tips: Node[], loose: ObjectLocation[]): Promise<void> {
    const location = this.catalog.find(oid);
    if (!location) throw missing(`wanted object ${oid}`);
    this.requested.add(location);
    const kind = this.catalog.kind(location);
    if (kind === COMMIT) {
      tips.push(this.graph.nodeAt(location));
    } else if (kind === TAG) {
      this.wanted.add(location);
      const target = tagTarget(this.catalog, location);
      if (target) await this.addWant(this.catalog.oid(target), tips, loose);
    } else {
      loose.push(location);
    }
  }

  private async findHaves(): Promise<Node[]> {
    const haves: Node[] = [];
    for (const oid of this.needs.haveOids) {
      const found = this.catalog.find(oid);
      const location = found && peel(this.catalog, found);
      const node = location ? this.graph.nodeAt(location) : NO_NODE;
      if (node !== NO_NODE) haves.push(node);
    }
    return haves;
  }

  /**
   * Finds the commits to send. `listed` holds the commits whose list of introduced objects is enough;
   * `whole` holds the commits whose complete tree is needed, because the client lacks a parent that the
   * list is relative to.
   */
  private findCommits(
    tips: readonly Node[],
    haves: readonly Node[],
    clientCut: ReadonlySet<Node>,
  ): {
    commits: ReadonlySet<Node>;
    listed: readonly Node[];
    whole: readonly Node[];
    boundary: ReadonlySet<Node>;
  } {
    const { graph } = this;
    const { cut } = this.needs;
    // The haves exclude history only down to the client's own boundary. Where the new cut is deeper, the
    // parents of that boundary are further tips.
    const below = cut ? [...clientCut].filter((node) => cut.nodes.has(node)) : [];
    const starts = [...tips];
    for (const node of below) {
      if (cut?.boundary.has(node)) continue;
      for (const parent of graph.parents(node)) starts.push(parent);
    }
    const { nodes, boundary } = findRange(graph, starts, haves, clientCut);
    const commits = new Set<Node>();
    const listed: Node[] = [];
    const whole: Node[] = [];
    for (const node of nodes) {
      if (cut && !cut.nodes.has(node)) continue;
      commits.add(node);
      const isCut = cut?.boundary.has(node) ?? false;
      (isCut ? whole : listed).push(node);
    }
    return { commits, listed, whole, boundary };
  }

  private passes(location: ObjectLocation): boolean {
    const limit = this.needs.filter?.blobBytesLimit;
    if (limit === undefined || this.catalog.kind(location) !== BLOB) return true;
    return this.catalog.sizeBytes(location) < limit;
  }

  /** Adds complete trees, except for objects in the trees of the `have` commits. */
  private async addWholeTrees(nodes: readonly Node[], have: ReadonlySet<Node>): Promise<void> {
    if (nodes.length === 0) return;
    const { graph, catalog, packed, wanted } = this;
    const held = new LocationSet(catalog);
    const roots = [...have, ...this.needs.haveOids.map((oid) => graph.find(oid))];
    for (const node of roots) {
      const root = node === NO_NODE ? undefined : graph.root(node);
      if (root) await walkTree(catalog, packed, root, (location) => held.add(location));
    }
    const visited = new LocationSet(catalog);
    for (const node of nodes) {
      const root = graph.root(node);
      if (!root) continue;
      await walkTree(catalog, packed, root, (location) => {
        if (held.has(location) || !visited.add(location)) return false;
        if (this.passes(location)) wanted.add(location);
        return catalog.kind(location) === TREE;
      });
    }
  }

  /** Adds the objects of a tree at depths below the filter's limit. */
  private async addTreeToDepth(root: ObjectLocation | undefined, startDepth = 0): Promise<void> {
    const limit = this.needs.filter?.treeDepthLimit ?? Number.POSITIVE_INFINITY;
    if (!root) return;
    await walkTree(this.catalog, this.packed, root, (location, below) => {
      const depth = startDepth + below;
      const key = `${location.pack}:${location.position}`;
      const seen = this.depths.get(key);
      if (depth >= limit || (seen !== undefined && seen <= depth)) return false;
      this.depths.set(key, depth);
      if (this.passes(location)) this.wanted.add(location);
      return depth + 1 < limit;
    });
  }

  /** Adds a tree or blob that was requested by id, with everything it reaches. */
  private async addLoose(root: ObjectLocation): Promise<void> {
    this.wanted.add(root);
    if (this.needs.filter?.treeDepthLimit !== undefined) {
      // Git counts depth from a requested tree: its entries have depth 0, like a commit's root tree.
      await this.addTreeToDepth(root, -1);
      return;
    }
    const visited = new LocationSet(this.catalog);
    await walkTree(this.catalog, this.packed, root, (location) => {
      if (!visited.add(location)) return false;
      if (this.requested.has(location) || this.passes(location)) this.wanted.add(location);
      return true;
    });
  }

  private addTags(): void {
    for (const { tagOid, peeledOid } of this.needs.tags) {
      const target = this.catalog.find(peeledOid);
      if (!target || !this.wanted.has(target)) continue;
      // For a tag of a tag, the whole chain is sent.
      for (let at = this.catalog.find(tagOid); at && this.catalog.kind(at) === TAG;) {
        this.wanted.add(at);
        at = tagTarget(this.catalog, at);
      }
    }
  }

  /**
   * The objects that the client certainly has: those that its latest commits introduced, which are likely
   * delta bases of new objects. The protocol does not report which objects a shallow or partial client
   * lacks, so for such a client no object is certain.
   */
  private findReceiverHas(
    haves: readonly Node[],
    clientCut: ReadonlySet<Node>,
  ): LocationSet | undefined {
    const { graph, needs } = this;
    if (!needs.isThin || haves.length === 0 || clientCut.size > 0 || needs.filter) return undefined;
    const has = new LocationSet(this.catalog);
    let left = BASE_COMMITS_MAX;
    for (const node of logByTime(graph, { tips: haves })) {
      if (left-- === 0) break;
      has.add(graph.location(node));
      graph.visitIntroduced(node, (location) => has.add(location));
    }
    return has;
  }
}
