import type { ByteText } from "../../../git/byte-text.ts";
import { resident } from "../../../git/catalog/block-pool.ts";
import type { ObjectLocation } from "../../../git/catalog/pack-catalog.ts";
import type { PathEntry } from "../../../git/diff/tree-diff.ts";
import { overLimit } from "../../../git/error.ts";
import { isTreeMode, parseTreeInPieces, type TreeEntry } from "../../../git/object/tree.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";

/** Maximum nesting of trees: no checkout could be deeper. */
const DEPTH_MAX = 2048;

/** A directory whose entries are being walked. */
interface Directory {
  /** With a slash at its end; "" for the root. */
  readonly path: string;
  readonly entries: readonly TreeEntry[];
  next: number;
}

/**
 * Yields the files, links and submodules of a tree in its order.
 *
 * SECURITY: a repeated tree is walked each time, so that ten small trees can have ten billion
 * files: the caller ends the walk, and the budget of `objects` ends one that yields nothing.
 *
 * Cost: a read per directory.
 *
 * @throws GitError `limit` for trees nested too deep, and once the budget is exhausted.
 */
export async function* walkFiles(
  { catalog, objects }: Pick<OpenRepository, "catalog" | "objects">,
  root: ObjectLocation,
): AsyncGenerator<PathEntry> {
  const open = async (location: ObjectLocation, path: string): Promise<Directory> => {
    const content = await objects.readAt(location);
    return { path, entries: await parseTreeInPieces(content, objects.budget), next: 0 };
  };
  const stack: Directory[] = [await open(root, "")];
  for (let top = stack.at(-1); top; top = stack.at(-1)) {
    const entry = top.entries[top.next++];
    if (!entry) {
      stack.pop();
      continue;
    }
    const path = (top.path + entry.name) as ByteText;
    if (!isTreeMode(entry.mode)) {
      yield { path, mode: entry.mode, oid: entry.oid };
      continue;
    }
    if (stack.length > DEPTH_MAX) throw overLimit("trees nested too deep");
    const location = await resident(() => catalog.find(entry.oid));
    if (location) stack.push(await open(location, `${path}/`));
  }
}
