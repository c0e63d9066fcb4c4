import type { ByteText } from "../byte-text.ts";
import { TREE } from "../object/kind.ts";
import { parseTree } from "../object/tree.ts";
import { OID_BYTES, writeOid } from "../oid.ts";
import type { PackCatalog, Place } from "../pack/pack-catalog.ts";
import type { PackedObjects } from "../pack/packed-objects.ts";
import { type CommitGraph, NO_NODE, type Node } from "./commit-graph.ts";
import { findWanted, followedParents, type LogRange } from "./log.ts";
import { byTime } from "./node-queue.ts";

/** What stands at a path: its mode and id as one text, "" where nothing does. */
type Occupant = string;

/** Occupants remembered by tree, so that a directory is read once for a run of commits. */
const REMEMBERED_MAX = 10_000;

/**
 * Finds what stands at one path in one tree after another.
 */
export class PathFinder {
  private readonly catalog: PackCatalog;
  private readonly packed: PackedObjects;
  private readonly names: readonly string[];
  private readonly remembered = new Map<string, Occupant>();
  private readonly raw = new Uint8Array(OID_BYTES);

  /** @param path Names separated by slashes; "" is the root. */
  constructor(catalog: PackCatalog, packed: PackedObjects, path: ByteText) {
    this.catalog = catalog;
    this.packed = packed;
    this.names = path.split("/").filter((name) => name !== "");
  }

  async find(root: Place): Promise<Occupant> {
    let occupant: Occupant = `40000 ${this.catalog.oid(root)}`;
    let at: Place | undefined = root;
    for (const [depth, name] of this.names.entries()) {
      if (!at || this.catalog.kind(at) !== TREE) return "";
      occupant = await this.findIn(at, name, depth);
      if (occupant === "") return "";
      writeOid(occupant.slice(occupant.indexOf(" ") + 1), this.raw);
      at = this.catalog.findRaw(this.raw, 0);
    }
    return occupant;
  }

  private async findIn(tree: Place, name: string, depth: number): Promise<Occupant> {
    const key = `${tree.pack}:${tree.position}:${depth}`;
    const known = this.remembered.get(key);
    if (known !== undefined) return known;
    const entries = parseTree(await this.packed.readPlace(tree));
    const entry = entries.find((candidate) => candidate.name === name);
    const occupant = entry ? `${entry.mode.toString(8)} ${entry.oid}` : "";
    if (this.remembered.size >= REMEMBERED_MAX) this.remembered.clear();
    this.remembered.set(key, occupant);
    return occupant;
  }
}

/**
 * Commits that changed a path, latest first, as `git log -- <path>` shows them: where one side of a
 * merge left the path as it is, only that side is followed.
 *
 * Cost: for each commit walked, the trees down to the path that were not met before.
 *
 * @param range With `isFirstParent`, a merge counts with all that it brought.
 */
export async function* logPath(
  graph: CommitGraph,
  finder: PathFinder,
  range: LogRange,
): AsyncGenerator<Node> {
  const { tips, excluded = [], isFirstParent = false } = range;
  const isWanted = findWanted(graph, range);
  const isNamed = new Set(excluded);
  // A side of a merge that is excluded hides no other, unless it was named itself.
  const isRelevant = (node: Node): boolean =>
    excluded.length === 0 || isNamed.has(node) || isWanted(node);
  const queue = byTime(graph);
  const seen = new Set<Node>();
  const put = (node: Node): void => {
    if (node === NO_NODE || seen.has(node) || !isWanted(node)) return;
    seen.add(node);
    queue.push(node);
  };
  const occupantOf = async (node: Node): Promise<Occupant> => {
    const root = graph.root(node);
    return root ? finder.find(root) : "";
  };
  for (const tip of tips) put(tip);
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    const own = await occupantOf(node);
    const parents = followedParents(graph, node, isFirstParent);
    let same: Node = NO_NODE;
    let isChanged = parents.length === 0 && own !== "";
    let hasRelevant = false;
    for (const parent of parents) {
      const isSame = parent !== NO_NODE && (await occupantOf(parent)) === own;
      if (isSame && isRelevant(parent)) {
        same = parent;
        break;
      }
      if (parent === NO_NODE || isRelevant(parent)) hasRelevant = true;
      if (!isSame) isChanged = true;
    }
    if (same !== NO_NODE) {
      put(same);
      continue;
    }
    if (hasRelevant || isChanged) yield node;
    for (const parent of parents) put(parent);
  }
}
