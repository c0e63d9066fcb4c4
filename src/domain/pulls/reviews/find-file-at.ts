import type { PathEntry } from "../../../git/diff/tree-diff.ts";
import { encodeText } from "../../../git/byte-text.ts";
import { isSubmoduleMode, isTreeMode } from "../../../git/object/tree.ts";
import { NO_NODE } from "../../../git/walk/commit-graph.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { findEntry, splitPath } from "../../code/contents/find-entry.ts";

/** The file at a path of a commit; undefined if there is none, or if the commit does not exist. */
export async function findFileAt(
  repository: OpenRepository,
  commitOid: string,
  path: string,
): Promise<PathEntry | undefined> {
  const { graph } = repository;
  const node = commitOid === "" ? NO_NODE : graph.find(commitOid);
  const root = node === NO_NODE ? undefined : await graph.loadRoot(node);
  const found = root && (await findEntry(repository, root, splitPath(path)));
  if (!found || isTreeMode(found.mode) || isSubmoduleMode(found.mode)) return undefined;
  return { path: encodeText(path), mode: found.mode, oid: found.oid };
}
