import { resident } from "../../../git/catalog/block-pool.ts";
import { encodeText } from "../../../git/byte-text.ts";
import { isTreeMode } from "../../../git/object/tree.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import type { Revision } from "../git/find-revision.ts";
import { readTree } from "./find-entry.ts";

/**
 * Finds the deepest directory above a path that a revision has without the file at the path: git
 * has no empty directories.
 *
 * Cost: one read per directory of the path.
 *
 * @returns The names of its path; none for the root.
 */
export async function findRemainingDirectory(
  repository: OpenRepository,
  { node }: Pick<Revision, "node">,
  names: readonly string[],
): Promise<readonly string[]> {
  const root = await repository.graph.loadRoot(node);
  let oid = root && (await resident(() => repository.catalog.oid(root)));
  let depth = 0;
  for (const [at, name] of names.entries()) {
    const entries = (oid === undefined ? undefined : await readTree(repository, oid)) ?? [];
    const encoded = encodeText(name);
    if (entries.some((entry) => entry.name !== encoded)) depth = at;
    const next = entries.find((entry) => entry.name === encoded);
    if (!next || !isTreeMode(next.mode)) break;
    oid = next.oid;
  }
  return names.slice(0, depth);
}
