import { encodeText } from "../../git/byte-text.ts";
import { TREE } from "../../git/object/kind.ts";
import { isTreeMode, MODE_TREE, parseTree, type TreeEntry } from "../../git/object/tree.ts";
import type { Place } from "../../git/pack/pack-catalog.ts";
import { type Revision, findRevision } from "../git/find-revision.ts";
import type { Code } from "../git/open-code.ts";
import type { RepositoryEntry } from "../../shapes/repository.ts";
import type { OpenRepository } from "../../storage/open-repository.ts";

/** The commit that `ref` names, or the latest of the default branch where it is empty. */
export function findContentRevision(
  code: Code,
  { repo }: RepositoryEntry,
  ref: string,
): Revision | undefined {
  return findRevision(code, ref === "" ? `refs/heads/${repo.defaultBranch}` : ref);
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
  root: Place,
  names: readonly string[],
): Promise<TreeEntry | undefined> {
  let at: TreeEntry = { mode: MODE_TREE, name: encodeText(""), oid: catalog.oid(root) };
  for (const name of names) {
    const tree = isTreeMode(at.mode) ? catalog.find(at.oid) : undefined;
    if (!tree || catalog.kind(tree) !== TREE) return undefined;
    const wanted = encodeText(name);
    const entries = parseTree(await objects.readPlace(tree));
    const next = entries.find((entry) => entry.name === wanted);
    if (!next) return undefined;
    at = next;
  }
  return at;
}
