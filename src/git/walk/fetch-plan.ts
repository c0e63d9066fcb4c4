import { finishInTurns } from "../budget.ts";
import { missing } from "../error.ts";
import { BLOB, COMMIT, TAG, TREE } from "../object/kind.ts";
import type { Oid } from "../oid.ts";
import type { PackCatalog, ObjectLocation } from "../catalog/pack-catalog.ts";
import type { PackedObjects } from "../catalog/packed-objects.ts";
import { resident } from "../catalog/block-pool.ts";
import { LocationSet } from "../catalog/location-set.ts";
import type { ObjectFilter } from "../wire/filter-spec.ts";
import { type CommitGraph, NO_NODE, type Node } from "./commit-graph.ts";
import { logByTime, rangeInTurns } from "./log.ts";
import { peel, tagTarget } from "./peel.ts";
import type { ShallowCut } from "./shallow.ts";
import { walkTree } from "./tree-walk.ts";

/** How many of the client's commits, latest first, provide delta bases for a thin pack. */
const BASE_COMMITS_MAX = 2000;

/** Commits whose lists are loaded together, where these are read by block. */
const LISTS_TOGETHER = 1000;

/** Steps to look up the home of an object, and a tag. */
const HOME_STEPS = 500;
const TAG_STEPS = 300;

/** Objects whose homes are looked up together: as many as the blocks that are held. */
const LOADED_TOGETHER = 40;

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
  readonly toPack: LocationSet;
  /** Objects that the client certainly has; undefined unless the pack may be thin. */
  readonly receiverHas: LocationSet | undefined;
}

/**
 * Selects the objects that a client lacks of everything its wants reach.
 *
 * A plain fetch reads no object: the graph lists the objects that each commit introduces. Trees are
 * read only where history is cut, where the cut makes such a list incomplete, or for a filter by
 * tree depth.
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
  private readonly toPack: LocationSet;
  /** Objects requested by id; they are sent even if the filter excludes them. */
  private readonly requested: LocationSet;
  /** The least depth at which each tree was entered, for filters by tree depth. */
  private readonly depths = new Map<string, number>();

  constructor(graph: CommitGraph, catalog: PackCatalog, packed: PackedObjects, needs: FetchNeeds) {
    this.graph = graph;
    this.catalog = catalog;
    this.packed = packed;
    this.needs = needs;
    this.toPack = new LocationSet(catalog);
    this.requested = new LocationSet(catalog);
  }

  async run(): Promise<FetchPlan> {
    const { graph, needs, toPack } = this;
    const tips: Node[] = [];
    const loose: ObjectLocation[] = [];
    for (const oid of needs.wantOids) await this.addWant(oid, tips, loose);

    const haves = await this.findHaves();
    const clientCut = new Set(needs.clientShallowOids.map((oid) => graph.find(oid)));
    const range = await this.findCommits(tips, haves, clientCut);
    for (const node of range.commits) toPack.add(graph.location(node));
    if (needs.filter?.treeDepthLimit === undefined) {
      const add = (location: ObjectLocation): void => {
        if (this.passes(location)) toPack.add(location);
      };
      for (const [at, node] of range.listed.entries()) {
        if (at % LISTS_TOGETHER === 0) {
          await graph.loadLists(range.listed.slice(at, at + LISTS_TOGETHER));
        }
        const visiting = graph.visitIntroducedInPieces(node, add, this.packed.budget);
        if (visiting) await visiting;
      }
      await this.addWholeTrees(range.whole, range.boundary);
    } else {
      for (const node of range.commits)
        await this.addTreeToDepth(await resident(() => graph.root(node)));
    }
    for (const location of loose) await this.addLoose(location);
    await this.addTags();
    if (this.catalog.isByBlock) await this.findHomes();
    return { toPack, receiverHas: await this.findReceiverHas(haves, clientCut) };
  }

  /** Adds a want: a commit to `tips`, a tree or blob to `loose`; a tag is added with its target. */
  private async addWant(oid: Oid, tips: Node[], loose: ObjectLocation[]): Promise<void> {
    const { catalog } = this;
    const location = await resident(() => catalog.find(oid));
    if (!location) throw missing(`toPack object ${oid}`);
    this.requested.add(location);
    const kind = await resident(() => catalog.kind(location));
    if (kind === COMMIT) {
      tips.push(this.graph.nodeAt(location));
    } else if (kind === TAG) {
      this.toPack.add(location);
      const target = await resident(() => {
        const found = tagTarget(catalog, location);
        return found && catalog.oid(found);
      });
      if (target) await this.addWant(target, tips, loose);
    } else {
      loose.push(location);
    }
  }

  private async findHaves(): Promise<Node[]> {
    const haves: Node[] = [];
    for (const oid of this.needs.haveOids) {
      const location = await resident(() => {
        const found = this.catalog.find(oid);
        return found && peel(this.catalog, found);
      });
      const node = location ? this.graph.nodeAt(location) : NO_NODE;
      if (node !== NO_NODE) haves.push(node);
    }
    return haves;
  }

  /**
   * Finds the commits to send. `listed` holds the commits whose list of introduced objects is
   * enough; `whole` holds the commits whose complete tree is needed, because the client lacks a
   * parent that the list is relative to.
   */
  private async findCommits(
    tips: readonly Node[],
    haves: readonly Node[],
    clientCut: ReadonlySet<Node>,
  ): Promise<{
    commits: ReadonlySet<Node>;
    listed: readonly Node[];
    whole: readonly Node[];
    boundary: ReadonlySet<Node>;
  }> {
    const { graph } = this;
    const { cut } = this.needs;
    // The haves exclude history only down to the client's own boundary. Where the new cut is
    // deeper, the parents of that boundary are further tips.
    const below = cut ? [...clientCut].filter((node) => cut.nodes.has(node)) : [];
    const starts = [...tips];
    for (const node of below) {
      if (cut?.boundary.has(node)) continue;
      for (const parent of graph.parents(node)) starts.push(parent);
    }
    const { nodes, boundary } = await finishInTurns(
      rangeInTurns(graph, starts, haves, clientCut),
      this.packed.budget,
    );
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
    const { graph, catalog, packed, toPack } = this;
    const held = new LocationSet(catalog);
    const roots = [...have, ...this.needs.haveOids.map((oid) => graph.find(oid))];
    for (const node of roots) {
      const root = node === NO_NODE ? undefined : await resident(() => graph.root(node));
      if (root) await walkTree(catalog, packed, root, (location) => held.add(location));
    }
    const visited = new LocationSet(catalog);
    for (const node of nodes) {
      const root = await resident(() => graph.root(node));
      if (!root) continue;
      await walkTree(catalog, packed, root, (location) => {
        if (held.has(location) || !visited.add(location)) return false;
        if (this.passes(location)) toPack.add(location);
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
      if (this.passes(location)) this.toPack.add(location);
      return depth + 1 < limit;
    });
  }

  /** Adds a tree or blob that was requested by id, with everything it reaches. */
  private async addLoose(root: ObjectLocation): Promise<void> {
    this.toPack.add(root);
    if (this.needs.filter?.treeDepthLimit !== undefined) {
      // Git counts depth from a requested tree: its entries have depth 0, like a commit's root
      // tree.
      await this.addTreeToDepth(root, -1);
      return;
    }
    const visited = new LocationSet(this.catalog);
    await walkTree(this.catalog, this.packed, root, (location) => {
      if (!visited.add(location)) return false;
      if (this.requested.has(location) || this.passes(location)) this.toPack.add(location);
      return true;
    });
  }

  private async addTags(): Promise<void> {
    const { catalog, toPack } = this;
    for (const { tagOid, peeledOid } of this.needs.tags) {
      const pausing = this.packed.budget.pause(TAG_STEPS);
      if (pausing) await pausing;
      const add = (): void => {
        const target = catalog.find(peeledOid);
        if (!target || !toPack.has(target)) return;
        // For a tag of a tag, the whole chain is sent.
        for (let at = catalog.find(tagOid); at && catalog.kind(at) === TAG;) {
          toPack.add(at);
          at = tagTarget(catalog, at);
        }
      };
      if (catalog.isByBlock) await resident(add);
      else add();
    }
  }

  /**
   * Names each object by its home, where lists have named it by a newer pack to spare a look-up.
   * Needed only if the set has objects of an older pack, too: no other object can be in it twice.
   */
  private async findHomes(): Promise<void> {
    const { catalog, toPack } = this;
    const first = catalog.packs.findIndex((_, pack) => !toPack.positions(pack).next().done);
    if (first < 0) return;
    for (let pack = first + 1; pack < catalog.packs.length; pack++) {
      const some = catalog.packs.slice(first, pack + 1);
      if (some.every(({ blocks }) => blocks === undefined)) continue;
      const positions = Uint32Array.from(toPack.positions(pack));
      for (let at = 0; at < positions.length; at += LOADED_TOGETHER) {
        await this.moveHome(pack, positions.subarray(at, at + LOADED_TOGETHER));
      }
    }
  }

  private async moveHome(pack: number, positions: Uint32Array): Promise<void> {
    const { catalog, toPack } = this;
    const locations = Array.from(positions, (position) => ({ pack, position }));
    await this.packed.budget.pause(HOME_STEPS * positions.length);
    await catalog.loadRows(locations);
    const oids: Oid[] = [];
    for (const each of locations) oids.push(await resident(() => catalog.oid(each)));
    await catalog.loadOids(oids);
    for (const [at, oid] of oids.entries()) {
      const location = locations[at] as ObjectLocation;
      const home = await resident(() => catalog.find(oid));
      if (!home || home.pack === location.pack) continue;
      toPack.delete(location);
      toPack.add(home);
    }
  }

  /**
   * The objects that the client certainly has: those that its latest commits introduced, which are
   * likely delta bases of new objects. The protocol does not report which objects a shallow or
   * partial client lacks, so for such a client no object is certain.
   */
  private async findReceiverHas(
    haves: readonly Node[],
    clientCut: ReadonlySet<Node>,
  ): Promise<LocationSet | undefined> {
    const { graph, needs } = this;
    if (!needs.isThin || haves.length === 0 || clientCut.size > 0 || needs.filter) return undefined;
    const has = new LocationSet(this.catalog);
    const latest: Node[] = [];
    for (const node of logByTime(graph, { tips: haves })) {
      if (latest.length === BASE_COMMITS_MAX) break;
      latest.push(node);
    }
    await graph.loadLists(latest);
    const add = (location: ObjectLocation): void => void has.add(location);
    for (const node of latest) {
      has.add(graph.location(node));
      await graph.visitIntroducedInPieces(node, add, this.packed.budget);
    }
    return has;
  }
}
