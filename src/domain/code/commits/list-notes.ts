import { decodeText, readByteText } from "../../../git/byte-text.ts";
import { isTreeMode, parseTree } from "../../../git/object/tree.ts";
import type { Oid } from "../../../git/oid.ts";
import { NO_NODE } from "../../../git/walk/commit-graph.ts";
import { findRef, type RepositorySnapshot } from "../git/open-snapshot.ts";
import { NOTES_REF } from "./find-note.ts";

/** Maximum size of a note that is shown with its commit, in bytes. */
const NOTE_BYTES_MAX = 256 * 1024;

/** A name in the notes tree that is looked for: what is left of a commit's id below a directory. */
interface RequestedNote {
  readonly commitOid: Oid;
  readonly digits: string;
}

/**
 * The notes on commits by their ids, as `findNote` finds each of them. Notes of more than 256 KB
 * are left out.
 *
 * Cost: each directory of the notes tree on the way to a note is read once, however many commits
 * there are, and then each note.
 */
export async function listNotes(
  snapshot: RepositorySnapshot,
  commitOids: readonly Oid[],
): Promise<ReadonlyMap<Oid, string>> {
  const { graph, objects, catalog } = snapshot.repository;
  const ref = findRef(snapshot, NOTES_REF);
  const head = ref ? graph.find(ref.oid) : NO_NODE;
  const rootOid = head === NO_NODE ? undefined : await graph.loadRootOid(head);
  const notes = new Map<Oid, string>();
  if (rootOid === undefined) return notes;
  const found = new Map<Oid, Oid>();
  const requested = commitOids.map((commitOid) => ({ commitOid, digits: commitOid }));
  await findBlobs(snapshot, rootOid, requested, found);
  for (const [commitOid, oid] of found) {
    const note = await catalog.findSized(oid);
    if (!note || note.sizeBytes > NOTE_BYTES_MAX) continue;
    const stored = await objects.readObject(oid);
    if (stored?.kind === "blob") notes.set(commitOid, decodeText(readByteText(stored.content)));
  }
  return notes;
}

/**
 * Finds the blobs of notes in a directory of the notes tree. A directory takes precedence over a
 * file beside it.
 */
async function findBlobs(
  snapshot: RepositorySnapshot,
  treeOid: Oid,
  requested: readonly RequestedNote[],
  found: Map<Oid, Oid>,
): Promise<void> {
  const stored = await snapshot.repository.objects.readObject(treeOid);
  if (stored?.kind !== "tree") return;
  const below = Map.groupBy(requested, ({ digits }) => digits.slice(0, 2));
  const files = new Map<string, Oid>();
  const directories = new Map<string, Oid>();
  for (const { name, mode, oid } of parseTree(stored.content)) {
    if (!isTreeMode(mode)) files.set(name, oid);
    else if (below.has(name)) directories.set(name, oid);
  }
  for (const [name, oid] of directories) {
    const rest = (below.get(name) ?? []).filter(({ digits }) => digits.length > 2);
    const shorter = rest.map(({ commitOid, digits }) => ({ commitOid, digits: digits.slice(2) }));
    if (shorter.length > 0) await findBlobs(snapshot, oid, shorter, found);
  }
  for (const { commitOid, digits } of requested) {
    const file = files.get(digits);
    if (file !== undefined && !found.has(commitOid)) found.set(commitOid, file);
  }
}
