import type { ByteText } from "../../../git/byte-text.ts";
import { isTreeMode, parseTree } from "../../../git/object/tree.ts";
import type { Oid } from "../../../git/oid.ts";
import type { Node } from "../../../git/walk/commit-graph.ts";
import { NO_NODE } from "../../../git/walk/commit-graph.ts";
import { PathFinder } from "../../../git/walk/path-finder.ts";
import { logPath } from "../../../git/walk/path-history.ts";
import { type RepositorySnapshot, findRef } from "../git/open-snapshot.ts";

/** Git's default notes ref. */
export const NOTES_REF = "refs/notes/commits";

/** A note on a commit. */
export interface Note {
  readonly content: Uint8Array;
  /** The commit that last changed the note. */
  readonly node: Node;
}

/**
 * Finds the note on a commit, or undefined.
 *
 * Like git, looks up a file named by the commit id, either in full or split into directories after
 * pairs of digits, to any depth. A directory takes precedence over a sibling file.
 *
 * Cost: reads the trees on the path to the note, and walks the notes history back to its last
 * change.
 *
 * @see git-notes(1), "NOTES".
 */
export async function findNote(
  snapshot: RepositorySnapshot,
  commitOid: Oid,
): Promise<Note | undefined> {
  const { catalog, graph, objects } = snapshot.repository;
  const ref = findRef(snapshot, NOTES_REF);
  const head = ref ? graph.find(ref.oid) : NO_NODE;
  const rootOid = head === NO_NODE ? undefined : await graph.loadRootOid(head);
  const path = rootOid && (await findPath(snapshot, rootOid, commitOid));
  if (!path) return undefined;
  const stored = await objects.readObject(path.oid);
  if (stored?.kind !== "blob") return undefined;
  const finder = new PathFinder(catalog, objects, path.path);
  const lastChange = await logPath(graph, finder, { tips: [head] }).next();
  return { content: stored.content, node: lastChange.done ? head : lastChange.value };
}

/** Finds the file named by `digits`, which may be split into two-digit directories. */
async function findPath(
  snapshot: RepositorySnapshot,
  treeOid: Oid,
  digits: string,
): Promise<{ path: ByteText; oid: Oid } | undefined> {
  const stored = await snapshot.repository.objects.readObject(treeOid);
  if (stored?.kind !== "tree") return undefined;
  const entries = parseTree(stored.content);
  const directory = entries.find(
    ({ name, mode }) => isTreeMode(mode) && name === digits.slice(0, 2),
  );
  if (directory && digits.length > 2) {
    const below = await findPath(snapshot, directory.oid, digits.slice(2));
    if (below) return { ...below, path: `${directory.name}/${below.path}` as ByteText };
  }
  const file = entries.find(({ name, mode }) => !isTreeMode(mode) && name === digits);
  return file && { path: file.name, oid: file.oid };
}
