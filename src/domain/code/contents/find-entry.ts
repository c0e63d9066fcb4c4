import { encodeText } from "../../../git/byte-text.ts";
import { TREE } from "../../../git/object/kind.ts";
import {
  isTreeMode,
  MODE_TREE,
  parseTreeInPieces,
  type TreeEntry,
} from "../../../git/object/tree.ts";
import type { Oid } from "../../../git/oid.ts";
import { resident } from "../../../git/catalog/block-pool.ts";
import type { ObjectLocation, PackCatalog } from "../../../git/catalog/pack-catalog.ts";
import { type Revision, findRevision } from "../git/find-revision.ts";
import type { RepositorySnapshot } from "../git/open-snapshot.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";

/** Resolves `ref` to a commit; an empty `ref` is the default branch. */
export function findContentRevision(
  snapshot: RepositorySnapshot,
  { row }: RepositoryContext,
  ref: string,
): Promise<Revision | undefined> {
  return findRevision(snapshot, ref === "" ? `refs/heads/${row.defaultBranch}` : ref);
}

/** Splits a path into names, ignoring empty ones; "." is the root. */
export const splitPath = (path: string): string[] =>
  path === "." ? [] : path.split("/").filter((name) => name !== "");

/**
 * Finds the tree entry at a path.
 *
 * SECURITY: names are matched literally: `..` matches no entry, and symlinks are not followed.
 *
 * Cost: one read per directory of the path.
 */
export async function findEntry(
  repository: OpenRepository,
  root: ObjectLocation,
  names: readonly string[],
): Promise<TreeEntry | undefined> {
  const oid = await resident(() => repository.catalog.oid(root));
  let at: TreeEntry = { mode: MODE_TREE, name: encodeText(""), oid };
  for (const name of names) {
    const entries = isTreeMode(at.mode) ? await readTree(repository, at.oid) : undefined;
    const encodedName = encodeText(name);
    const next = entries?.find((entry) => entry.name === encodedName);
    if (!next) return undefined;
    at = next;
  }
  return at;
}

function findTree(catalog: PackCatalog, oid: Oid): Promise<ObjectLocation | undefined> {
  return resident(() => {
    const location = catalog.find(oid);
    return location && catalog.kind(location) === TREE ? location : undefined;
  });
}

/** Reads the entries of a tree; undefined if the repository has no such tree. */
export async function readTree(
  { catalog, objects }: Pick<OpenRepository, "catalog" | "objects">,
  oid: Oid,
): Promise<TreeEntry[] | undefined> {
  const tree = await findTree(catalog, oid);
  return tree && parseTreeInPieces(await objects.readAt(tree), objects.budget);
}

/** `findEntry` for several paths. Each common directory is read once. */
export async function findEntries(
  repository: Pick<OpenRepository, "catalog" | "objects">,
  root: ObjectLocation,
  paths: readonly (readonly string[])[],
): Promise<(TreeEntry | undefined)[]> {
  const found: (TreeEntry | undefined)[] = paths.map(() => undefined);
  const pick = async (oid: Oid, names: ReadonlySet<string>): Promise<TreeEntry[]> => {
    const entries = (await readTree(repository, oid)) ?? [];
    return entries.filter(({ name }) => names.has(name));
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
  const rootOid = await resident(() => repository.catalog.oid(root));
  const top: TreeEntry = { mode: MODE_TREE, name: encodeText(""), oid: rootOid };
  await descend(top, [...paths.keys()], 0);
  return found;
}
