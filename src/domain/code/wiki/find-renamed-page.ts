import { encodeText, decodeText } from "../../../git/byte-text.ts";
import { findRenames } from "../../../git/diff/renames.ts";
import { addressOfFile, fileOfAddress } from "../../../shapes/wiki/wiki-path.ts";
import { findChanges } from "../commits/find-changes.ts";
import { listCommits } from "../commits/list-commits.ts";
import { findOwnTrees } from "../commits/own-trees.ts";
import type { OpenWiki } from "./open-wiki.ts";

/**
 * Finds the address that a page got when it lost another one, by the commit that removed its file:
 * the page with similar text that the commit added, or the only one.
 *
 * Cost: the history of the file, which is cached, and the differences of one commit.
 *
 * @param address That no page has.
 */
export async function findRenamedPage(
  { snapshot, revision }: OpenWiki,
  address: string,
): Promise<string | undefined> {
  const path = fileOfAddress(address);
  const query = { tips: [revision.node], path };
  const [last] = (await listCommits(snapshot, query, { size: 1, offset: 0 })).items;
  if (last === undefined) return undefined;
  const { graph, objects } = snapshot.repository;
  const trees = await findOwnTrees(graph, last);
  const changes = (await findChanges(objects, trees.oldTreeOid, trees.newTreeOid)) ?? [];
  const old = encodeText(path);
  const added = changes.filter(({ kind }) => kind === "added");
  const [only] = added.length === 1 ? added : [];
  const found = (await findRenames(objects, changes, objects.budget)).find(
    (change) => change.kind === "renamed" && change.old.path === old,
  );
  const moved = found ?? only;
  const isRemoved = changes.some((change) => change.kind === "deleted" && change.old.path === old);
  return isRemoved && moved && "new" in moved
    ? addressOfFile(decodeText(moved.new.path))
    : undefined;
}
