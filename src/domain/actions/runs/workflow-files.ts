import { decodeText, readByteText } from "../../../git/byte-text.ts";
import { isSubmoduleMode, isTreeMode, parseTreeInPieces } from "../../../git/object/tree.ts";
import type { Node } from "../../../git/walk/commit-graph.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { findEntries, splitPath } from "../../code/contents/find-entry.ts";

/** The directories of workflow files: the second is read where a commit lacks the first. */
const DIRECTORIES = [".gitea/workflows", ".github/workflows"] as const;
const ENDING = /\.ya?ml$/;

/** Maximum workflow files of a commit that are read, and the size of each in bytes. */
const FILES_MAX = 100;
const BYTES_MAX = 512 * 1024;

/** A workflow file of a commit. */
export interface WorkflowFile {
  /** Its name in the directory. */
  readonly file: string;
  readonly path: string;
  /** Undefined for one that is too large to be read. */
  readonly text: string | undefined;
}

/**
 * Reads the workflow files of a commit, by name.
 *
 * Cost: a read for each directory of the path, and for each file.
 */
export async function readWorkflowFiles(
  repository: OpenRepository,
  commit: Node,
): Promise<WorkflowFile[]> {
  const { graph, catalog, objects } = repository;
  const root = await graph.loadRoot(commit);
  if (root === undefined) return [];
  const found = await findEntries(repository, root, DIRECTORIES.map(splitPath));
  const at = found.findIndex((entry) => entry !== undefined && isTreeMode(entry.mode));
  const directory = found[at];
  if (!directory) return [];
  const tree = await catalog.findSized(directory.oid);
  if (!tree) return [];
  const entries = await parseTreeInPieces(await objects.readAt(tree.location), objects.budget);
  const files: WorkflowFile[] = [];
  for (const { name, mode, oid } of entries) {
    const file = decodeText(name);
    if (!ENDING.test(file) || isTreeMode(mode) || isSubmoduleMode(mode)) continue;
    if (files.length === FILES_MAX) break;
    const blob = await catalog.findSized(oid);
    if (!blob) continue;
    const isRead = blob.sizeBytes <= BYTES_MAX;
    const text = isRead ? decodeText(readByteText(await objects.readAt(blob.location))) : undefined;
    files.push({ file, path: `${DIRECTORIES[at]}/${file}`, text });
  }
  return files;
}
