import { encodeText } from "../../git/byte-text.ts";
import { TREE } from "../../git/object/kind.ts";
import { isTreeMode, MODE_TREE, parseTree, type TreeEntry } from "../../git/object/tree.ts";
import type { Oid } from "../../git/oid.ts";
import type { ObjectLocation } from "../../git/catalog/pack-catalog.ts";
import { type Revision, findRevision } from "../git/find-revision.ts";
import type { RepositorySnapshot } from "../git/open-snapshot.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import type { OpenRepository } from "../../storage/open-repository.ts";

/** The commit that `ref` names, or the latest of the default branch where it is empty. */
export function findContentRevision(
  snapshot: RepositorySnapshot,
  { row }: RepositoryContext,
  ref: string,
): Revision | undefined {
  return findRevision(snapshot, ref === "" ? `refs/heads/${row.defaultBranch}` : ref);
}

/** The names of a path. Slashes at its ends count for nothing; "." is the root. */
export const splitPath = (path: string): string[] =>
  path === "." ? [] : path.split("/").filter((name) => name !== "");

/**
 * What stands at a path of a tree.
 *
 * SECURITY: names are looked up in trees as they are. `..` is no entry of any, and a symlink is an
 * end, whatever it says.
 *
 * Cost: one read for each directory of the path.
 */
export async function findEntry(
  { catalog, objects }: OpenRepository,
  root: ObjectLocation,
  names: readonly string[],
): Promise<TreeEntry | undefined> {
  let at: TreeEntry = { mode: MODE_TREE, name: encodeText(""), oid: catalog.oid(root) };
  for (const name of names) {
    const tree = isTreeMode(at.mode) ? catalog.find(at.oid) : undefined;
    if (!tree || catalog.kind(tree) !== TREE) return undefined;
    const wanted = encodeText(name);
    const entries = parseTree(await objects.readAt(tree));
    const next = entries.find((entry) => entry.name === wanted);
    if (!next) return undefined;
    at = next;
  }
  return at;
}

/** The same for several paths. What they have in common is read once. */
export async function findEntries(
  { catalog, objects }: OpenRepository,
  root: ObjectLocation,
  paths: readonly (readonly string[])[],
): Promise<(TreeEntry | undefined)[]> {
  const found: (TreeEntry | undefined)[] = paths.map(() => undefined);
  const pick = async (oid: Oid, names: ReadonlySet<string>): Promise<TreeEntry[]> => {
    const tree = catalog.find(oid);
    if (!tree || catalog.kind(tree) !== TREE) return [];
    return parseTree(await objects.readAt(tree)).filter(({ name }) => names.has(name));
  };
  const descend = async (at: TreeEntry, numbers: number[], depth: number): Promise<void> => {
    const below = new Map<string, number[]>();
    for (const number of numbers) {
      const name = paths[number]?.[depth];
      if (name === undefined) found[number] = at;
      else below.set(encodeText(name), [...(below.get(encodeText(name)) ?? []), number]);
    }
    if (below.size === 0 || !isTreeMode(at.mode)) return;
    for (const entry of await pick(at.oid, new Set(below.keys()))) {
      await descend(entry, below.get(entry.name) ?? [], depth + 1);
    }
  };
  const top: TreeEntry = { mode: MODE_TREE, name: encodeText(""), oid: catalog.oid(root) };
  await descend(top, [...paths.keys()], 0);
  return found;
}
