import { type ByteText, byteTextBytes } from "../byte-text.ts";
import { TREE } from "../object/kind.ts";
import { findTreeEntry, isTreeMode } from "../object/tree.ts";
import { formatOid } from "../oid.ts";
import { resident } from "../catalog/block-pool.ts";
import type { PackCatalog, ObjectLocation } from "../catalog/pack-catalog.ts";
import type { PackedObjects } from "../catalog/packed-objects.ts";
import type { CommitGraph, Node } from "./commit-graph.ts";

/** The mode and id of the entry at a path as one text; "" if the path does not exist. */
export type Occupant = string;

/**
 * How many trees have their entry cached per name, so that a directory is read once for a run of
 * commits.
 */
const CACHED_MAX = 10_000;

/** The entry at the path of a `PathFinder`. */
export interface FoundEntry {
  readonly occupant: Occupant;
  /** The location of the entry, if it is a tree. */
  readonly tree: ObjectLocation | undefined;
}

const NOTHING: FoundEntry = { occupant: "", tree: undefined };

/** Finds the entry at one path in a series of root trees. */
export class PathFinder {
  private readonly catalog: PackCatalog;
  private readonly packed: PackedObjects;
  /** The bytes of each name of the path. */
  private readonly names: readonly Uint8Array[];
  /** For each name of the path: the entries found so far, by the tree that was searched. */
  private readonly cached: readonly Map<number, FoundEntry>[];

  /** @param path Names separated by slashes; "" is the root. */
  constructor(catalog: PackCatalog, packed: PackedObjects, path: ByteText) {
    this.catalog = catalog;
    this.packed = packed;
    const names = path.split("/").filter((name) => name !== "") as ByteText[];
    this.names = names.map(byteTextBytes);
    this.cached = names.map(() => new Map());
  }

  /** Finds the entry in the root tree of a commit; "" if that tree is in no pack. */
  async findAt(graph: CommitGraph, node: Node): Promise<Occupant> {
    return (await this.findEntryAt(graph, node)).occupant;
  }

  /** `findAt`, with the location of a tree. */
  async findEntryAt(graph: CommitGraph, node: Node): Promise<FoundEntry> {
    const root = this.catalog.isByBlock ? await graph.loadRoot(node) : graph.root(node);
    return root ? this.findEntry(root) : NOTHING;
  }

  async find(root: ObjectLocation): Promise<Occupant> {
    return (await this.findEntry(root)).occupant;
  }

  private async findEntry(root: ObjectLocation): Promise<FoundEntry> {
    let found: FoundEntry = { occupant: "", tree: root };
    for (const [depth, name] of this.names.entries()) {
      if (!found.tree) return NOTHING;
      const { tree } = found;
      const known = this.cached[depth] as Map<number, FoundEntry>;
      const key = tree.pack * 2 ** 32 + tree.position;
      // A cached entry is used without an await: most commits change other files, so this is the
      // common case.
      found = known.get(key) ?? (await this.look(known, key, tree, name));
    }
    if (this.names.length > 0) return found;
    return { occupant: `40000 ${await resident(() => this.catalog.oid(root))}`, tree: root };
  }

  private async look(
    known: Map<number, FoundEntry>,
    key: number,
    tree: ObjectLocation,
    name: Uint8Array,
  ): Promise<FoundEntry> {
    const content = await this.packed.readAt(tree);
    const entry = findTreeEntry(content, name);
    let found = NOTHING;
    if (entry) {
      // A file is not looked up: where its row is may cost a read.
      const isTree = isTreeMode(entry.mode);
      found = {
        occupant: `${entry.mode.toString(8)} ${formatOid(content, entry.oidOffset)}`,
        tree: isTree ? await resident(() => this.findTree(content, entry.oidOffset)) : undefined,
      };
    }
    if (known.size >= CACHED_MAX) known.clear();
    known.set(key, found);
    return found;
  }

  private findTree(oid: Uint8Array, offset: number): ObjectLocation | undefined {
    const location = this.catalog.findRaw(oid, offset);
    return location && this.catalog.kind(location) === TREE ? location : undefined;
  }
}
