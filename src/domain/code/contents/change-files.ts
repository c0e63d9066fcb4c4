import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import { type ByteText, encodeText } from "../../../git/byte-text.ts";
import {
  isSubmoduleMode,
  isSymlinkMode,
  isTreeMode,
  MODE_EXECUTABLE,
  MODE_FILE,
} from "../../../git/object/tree.ts";
import type { DraftEntry, Obstacle, TreeDraft } from "../../../git/tree-draft.ts";
import type { Oid } from "../../../git/oid.ts";
import { invalid, invalidField, notFound } from "../../../lib/failure.ts";
import { formatBase64 } from "../../../lib/base64.ts";
import type { ContentItem } from "../../../shapes/contents/contents.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { commitFiles, type MadeCommit, type EditTarget } from "./commit-files.ts";
import type { CommitOptions } from "./commit-options.ts";
import { readLfsPointer } from "./lfs-pointer.ts";
import { readBlob } from "./read-blob.ts";
import { readTreePath } from "./tree-path.ts";

/** A change to one file. */
export interface FileOperation {
  /** `upload` creates a file or updates it. */
  readonly kind: "create" | "update" | "upload" | "rename" | "delete";
  readonly path: string;
  /** The previous path of a moved file. */
  readonly fromPath?: string | undefined;
  /** If undefined, a renamed file keeps its content. */
  readonly content?: Uint8Array | undefined;
  /** The blob id that the caller expects the file to have. */
  readonly sha?: string | undefined;
}

/** Maximum total bytes of returned contents that the request did not send. */
const READ_BYTES_MAX = 10 * 1024 * 1024;

/**
 * Applies file operations in order as one commit. Each operation sees the results of the previous
 * ones.
 *
 * @returns The commit, and the final content at the path of each operation.
 * @throws Failure `invalid` for an operation that can't be applied, `not_found` for a file or
 * branch that does not exist, `conflict` if the branch was updated concurrently. Nothing is changed
 * then.
 */
export async function changeFiles(
  ctx: Ctx,
  repo: RepositoryContext,
  user: User,
  operations: readonly FileOperation[],
  commitOptions: CommitOptions,
): Promise<{ items: (ContentItem | undefined)[]; made: MadeCommit }> {
  const { result, made } = await commitOperations(
    ctx,
    repo,
    user,
    operations,
    commitOptions,
    (target, contents) => describeFiles(target, operations, contents),
  );
  const { commit, commitOid } = made;
  const lastCommit = {
    oid: commitOid,
    committerSeconds: commit.committer.timeSeconds,
    authorSeconds: commit.author.timeSeconds,
    message: undefined,
  };
  for (const item of result) {
    if (item) item.lastCommit = lastCommit;
  }
  return { items: result, made };
}

/**
 * Applies file operations as `changeFiles` does, for callers who do not show the files.
 *
 * @throws Failure as `changeFiles`.
 */
export async function applyFiles(
  ctx: Ctx,
  repo: RepositoryContext,
  user: User,
  operations: readonly FileOperation[],
  commitOptions: CommitOptions,
): Promise<MadeCommit> {
  const commit = commitOperations(ctx, repo, user, operations, commitOptions, async () => {});
  return (await commit).made;
}

/** @param look Reads from the result before it is committed, with the contents that are new. */
function commitOperations<T>(
  ctx: Ctx,
  repo: RepositoryContext,
  user: User,
  operations: readonly FileOperation[],
  commitOptions: CommitOptions,
  look: (target: EditTarget, contents: ReadonlyMap<Oid, Uint8Array>) => Promise<T>,
): Promise<{ result: T; made: MadeCommit }> {
  const message = describeChanges(operations);
  return commitFiles(ctx, repo, user, commitOptions, message, async (target) => {
    const contents = new Map<Oid, Uint8Array>();
    for (const operation of operations) await applyOperation(target, operation, contents);
    return look(target, contents);
  });
}

/** Maximum length of a message that lists all paths, in characters. */
const DESCRIPTION_MAX = 65_535;

/**
 * The default message: `Add a.txt, b.txt`, then updated and deleted paths likewise, one line each.
 */
function describeChanges(operations: readonly FileOperation[]): string {
  const paths = (...kinds: FileOperation["kind"][]): string =>
    operations
      .filter(({ kind }) => kinds.includes(kind))
      .map(({ path }) => path)
      .join(", ");
  const lines = [
    ["Add", paths("create")],
    ["Update", paths("update", "upload", "rename")],
    ["Delete", paths("delete")],
  ];
  const description = lines
    .filter(([, list]) => list !== "")
    .map((line) => line.join(" "))
    .join("\n");
  return description.length <= DESCRIPTION_MAX ? description : `Change ${operations.length} files`;
}

async function applyOperation(
  { tree, pack }: EditTarget,
  operation: FileOperation,
  contents: Map<Oid, Uint8Array>,
): Promise<void> {
  const { kind, path, content } = operation;
  if (kind === "delete") {
    const names = splitLookupPath(path);
    await findOld(tree, operation, path);
    await tree.remove(names);
    return;
  }
  const names = readTreePath(path);
  const fromPath = kind === "create" ? path : operation.fromPath || path;
  if (kind === "rename" && !operation.fromPath) throw invalidField("from_path", "is required");
  const isNew =
    kind === "create" || (kind === "upload" && !(await tree.find(splitLookupPath(fromPath))));
  if (isNew && operation.sha && kind === "upload") throw mismatch(operation.sha, "");
  const old = isNew ? undefined : await findOld(tree, operation, fromPath);
  if (old && content && !isFile(old)) {
    throw invalid(`a symbolic link or submodule has no content [path: ${fromPath}]`);
  }

  const obstacle = await tree.findObstacle(names);
  if (obstacle) throw blocked(obstacle, names, path);
  const isMoved = fromPath !== path;
  const target = await tree.find(names);
  if (target && (kind === "create" || isMoved)) {
    if (!isFile(target)) throw blocked({ ...target, nameCount: names.length }, names, path);
    throw invalid(`repository file already exists [path: ${path}]`);
  }
  if (old && isMoved) await tree.remove(splitLookupPath(fromPath));
  if (content) {
    const oid = pack.add("blob", content);
    contents.set(oid, content);
    const mode = old?.mode === MODE_EXECUTABLE ? MODE_EXECUTABLE : MODE_FILE;
    await tree.put(names, { mode, oid });
  } else if (old) {
    await tree.put(names, old);
  } else {
    throw invalidField("content", "is required");
  }
}

/**
 * Finds the file that an operation changes and verifies the blob id that the caller expects.
 *
 * @throws Failure `not_found` if the file does not exist, `invalid` for a missing or different blob
 *   id.
 */
async function findOld(
  tree: TreeDraft,
  { kind, sha }: FileOperation,
  path: string,
): Promise<DraftEntry> {
  const old = await tree.find(splitLookupPath(path));
  if (!old || isTreeMode(old.mode))
    throw notFound(`repository file does not exist [path: ${path}]`, "no-such-path");
  if (!sha) {
    if (kind === "upload") return old;
    throw invalid("a SHA or commit ID must be proved when updating a file");
  }
  if (sha.toLowerCase() !== old.oid) throw mismatch(sha, old.oid);
  return old;
}

const mismatch = (sha: string, oid: Oid) =>
  invalid(`sha does not match [given: ${sha}, expected: ${oid}]`);

/**
 * Splits a path for a lookup only. It needs no validation, since an invalid name matches no tree
 * entry.
 */
const splitLookupPath = (path: string): ByteText[] => path.split("/").map(encodeText);

const isFile = ({ mode }: { mode: number }): boolean =>
  !isTreeMode(mode) && !isSymlinkMode(mode) && !isSubmoduleMode(mode);

function blocked({ mode, nameCount }: Obstacle, names: readonly ByteText[], path: string) {
  const what = isTreeMode(mode)
    ? "directory"
    : isSymlinkMode(mode)
      ? "symbolic link"
      : isSubmoduleMode(mode)
        ? "submodule"
        : "file";
  const requested = nameCount < names.length ? "subdirectory" : "file";
  const where = path.split("/").slice(0, nameCount).join("/");
  return invalid(`a ${what} exists where you're trying to create a ${requested} [path: ${where}]`);
}

/** Describes the final entry at the path of each operation. */
async function describeFiles(
  { tree, repository }: EditTarget,
  operations: readonly FileOperation[],
  contents: ReadonlyMap<Oid, Uint8Array>,
): Promise<(ContentItem | undefined)[]> {
  const { catalog } = repository;
  const items: (ContentItem | undefined)[] = [];
  let bytesLeft = READ_BYTES_MAX;
  for (const { path } of operations) {
    const found = await tree.find(splitLookupPath(path));
    if (!found || isTreeMode(found.mode)) {
      items.push(undefined);
      continue;
    }
    const { mode, oid } = found;
    const item = { path, mode, oid, target: null, submoduleUrl: null, lastCommit: undefined };
    const content = contents.get(oid);
    const stored = content ? undefined : await catalog.findSized(oid);
    const location = stored?.location;
    const sizeBytes = content?.length ?? stored?.sizeBytes ?? 0;
    if (content) {
      const encoded = { encoding: "base64", content: formatBase64(content) } as const;
      items.push({ ...item, ...encoded, sizeBytes, lfs: readLfsPointer(content) });
    } else if (location && isFile(found) && sizeBytes <= bytesLeft) {
      bytesLeft -= sizeBytes;
      items.push({ ...item, ...(await readBlob(repository, location)), path });
    } else {
      items.push({ ...item, encoding: null, content: null, sizeBytes, lfs: undefined });
    }
  }
  return items;
}
