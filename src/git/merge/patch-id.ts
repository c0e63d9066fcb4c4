import { finishInTurns, withoutLimit } from "../budget.ts";
import { type ByteText, byteTextBytes } from "../byte-text.ts";
import { diffLines, isBinary } from "../diff/line-diff.ts";
import { diffTrees, type PathChange } from "../diff/tree-diff.ts";
import { formatHunk, hunksInTurns } from "../diff/unified.ts";
import { missing } from "../error.ts";
import { hashObject } from "../object/hash-object.ts";
import { EMPTY_TREE_OID, type Oid } from "../oid.ts";
import type { ObjectReader } from "../store.ts";
import { type CommitGraph, NO_NODE, type Node } from "../walk/commit-graph.ts";

/** Largest content that is compared by lines, in bytes; larger content counts as binary. */
const CONTENT_BYTES_MAX = 4 * 1024 * 1024;
/** Paths that a commit may change; one that changes more equals no other. */
const CHANGES_MAX = 10_000;

/**
 * Finds the commits among `nodes` that make the same change as one of `others`: their patches are
 * equal but for line numbers and white space. Merges, and commits that change nothing, are never
 * among them.
 *
 * Cost: the changed paths of all commits, and the contents of those that change the same paths as
 * one of the other side.
 *
 * @see git-patch-id(1); git-rev-list(1), `--cherry-mark`.
 */
export async function findEqualPatches(
  graph: CommitGraph,
  objects: ObjectReader,
  nodes: readonly Node[],
  others: readonly Node[],
): Promise<ReadonlySet<Node>> {
  const equal = new Set<Node>();
  if (nodes.length === 0 || others.length === 0) return equal;
  const byPaths = new Map<string, Changes[]>();
  for (const other of others) {
    const changes = await readChanges(graph, objects, other);
    if (!changes) continue;
    const alike = byPaths.get(changes.paths);
    if (alike) alike.push(changes);
    else byPaths.set(changes.paths, [changes]);
  }
  const ids = new Map<Changes, Oid>();
  const idOf = async (changes: Changes): Promise<Oid> => {
    const id = ids.get(changes) ?? (await patchId(objects, changes.changes));
    ids.set(changes, id);
    return id;
  };
  for (const node of nodes) {
    const changes = await readChanges(graph, objects, node);
    for (const other of (changes && byPaths.get(changes.paths)) ?? []) {
      if (changes && (await idOf(changes)) === (await idOf(other))) equal.add(node);
    }
  }
  return equal;
}

/** The paths that a commit changes. */
interface Changes {
  readonly changes: readonly PathChange[];
  /** The changed paths, to tell quickly that two commits differ. */
  readonly paths: string;
}

async function readChanges(
  graph: CommitGraph,
  objects: ObjectReader,
  node: Node,
): Promise<Changes | undefined> {
  const [parent = NO_NODE, another] = graph.parents(node);
  if (another !== undefined) return undefined;
  const before = parent === NO_NODE ? EMPTY_TREE_OID : await graph.loadRootOid(parent);
  const after = await graph.loadRootOid(node);
  if (before === after) return undefined;
  const changes = await diffTrees(objects, before, after, { changesMax: CHANGES_MAX });
  const paths = changes.map((change) => `${change.kind} ${pathOf(change)}`).join("\0");
  return { changes, paths };
}

const pathOf = (change: PathChange): ByteText =>
  change.kind === "deleted" ? change.old.path : change.new.path;

/** Identifies a patch, independently of line numbers and white space. */
async function patchId(objects: ObjectReader, changes: readonly PathChange[]): Promise<Oid> {
  let text = "";
  for (const change of changes) {
    const old = change.kind === "added" ? undefined : change.old;
    const fresh = change.kind === "deleted" ? undefined : change.new;
    text += `${change.kind} ${pathOf(change)}\n`;
    if (!old || !fresh) text += `${(old ?? fresh)?.mode}\n`;
    if (old?.oid === fresh?.oid) continue;
    const [left, right] = [await readContent(objects, old), await readContent(objects, fresh)];
    if (left === undefined || right === undefined || isBinary(left) || isBinary(right)) {
      text += `${old?.oid} ${fresh?.oid}\n`;
      continue;
    }
    const budget = withoutLimit(objects.budget);
    const diff = await diffLines(left, right, budget);
    for (const hunk of await finishInTurns(hunksInTurns(diff), budget)) {
      const [, ...lines] = formatHunk(hunk).split("\n");
      text += `${lines.map((line) => line.replaceAll(/[ \t\r\v\f]/g, "")).join("\n")}\n`;
    }
  }
  return hashObject("blob", byteTextBytes(text as ByteText));
}

/** Reads one side of a change; undefined where it is not compared by lines. */
async function readContent(
  objects: ObjectReader,
  entry: { readonly oid: Oid; readonly mode: number } | undefined,
): Promise<Uint8Array | undefined> {
  if (!entry) return new Uint8Array(0);
  if (entry.mode === 0o160000) return undefined;
  const found = await objects.readObject(entry.oid);
  if (!found) throw missing(`blob ${entry.oid}`);
  return found.content.length > CONTENT_BYTES_MAX ? undefined : found.content;
}
