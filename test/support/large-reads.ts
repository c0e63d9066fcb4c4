import { formatDiff } from "../../src/domain/code/commits/format-diff.ts";
import { findChangedFiles } from "../../src/domain/code/commits/compare-revisions.ts";
import { listCommits } from "../../src/domain/code/commits/list-commits.ts";
import { findFile } from "../../src/domain/code/contents/find-file.ts";
import { findTree } from "../../src/domain/code/contents/find-object.ts";
import { listTree } from "../../src/domain/code/contents/list-tree.ts";
import { openBlob } from "../../src/domain/code/contents/open-content.ts";
import { findRevision } from "../../src/domain/code/git/find-revision.ts";
import type { RepositorySnapshot } from "../../src/domain/code/git/open-snapshot.ts";
import { computeMergeability } from "../../src/domain/pulls/pull/compute-mergeability.ts";
import { encodeText } from "../../src/git/byte-text.ts";
import { MODE_FILE } from "../../src/git/object/tree.ts";
import type { Oid } from "../../src/git/oid.ts";
import { DEFAULT_PACK_LIMITS } from "../../src/git/pack/limits.ts";
import { TreeDraft } from "../../src/git/tree-draft.ts";
import type { Node } from "../../src/git/walk/commit-graph.ts";
import { commitOf } from "./large-packs.ts";
import { type LargeRepository, type OpenRequest, PATH } from "./large-requests.ts";

/** Commits between the two that are compared. */
const APART = 8;

async function openState(request: OpenRequest): Promise<RepositorySnapshot> {
  return { state: request.snapshot, repository: await request.open() };
}

/** Reads a file of the oldest directory as `GET /raw/{path}` does. */
export async function readRaw(request: OpenRequest): Promise<string> {
  const snapshot = await openState(request);
  const repo = { row: { defaultBranch: "main" } };
  const file = await findFile(snapshot, repo as never, PATH, "main");
  if (!file) throw new Error("no file");
  const content = await openBlob({} as never, {} as never, snapshot, file);
  let text = "";
  for await (const piece of content.stream()) text += Buffer.from(piece).toString();
  return text;
}

/**
 * Writes a file as `PUT /contents/{path}` does, up to the stored pack. Returns the number of its
 * objects.
 */
export async function writeFile(
  request: OpenRequest,
  { tips }: LargeRepository,
  name: string,
): Promise<number> {
  const { stored, snapshot } = request;
  const { repository } = await openState(request);
  const { graph, objects } = repository;
  const rootOid = await graph.loadRootOid(graph.find(tips[0] ?? ""));
  const tree = new TreeDraft(objects, rootOid);
  const pack = stored.startPack();
  const oid = pack.add("blob", Buffer.from("written\n"));
  await tree.put(PATH.split("/").map(encodeText), { mode: MODE_FILE, oid });
  const treeOid = await tree.write((content) => pack.add("tree", content));
  const parent = Buffer.from(tips[0] ?? "", "hex");
  pack.add("commit", commitOf(Buffer.from(treeOid, "hex"), parent, 1));
  const receiver = stored.receivePack(name, DEFAULT_PACK_LIMITS);
  await receiver.write(pack.build());
  const received = await receiver.finish(repository, snapshot);
  return received?.record.objectCount ?? 0;
}

/**
 * Lists a page of the latest commits, and reads them, as `GET /commits` does. Returns their number,
 * and that of all.
 */
export async function listHistory(request: OpenRequest): Promise<{ read: number; total: number }> {
  const snapshot = await openState(request);
  const { graph, objects } = snapshot.repository;
  const start = await findRevision(snapshot, "main");
  if (!start) throw new Error("no revision");
  const page = { offset: 0, size: 30 };
  const { items, total } = await listCommits(snapshot, { tips: [start.node] }, page);
  let read = 0;
  for (const node of items) {
    const content = await objects.readAt(graph.location(node));
    if (content.length > 0) read++;
  }
  return { read, total };
}

/**
 * Compares two commits as `GET /compare` does, and formats their diff. Returns the changed files,
 * and the files of the diff.
 */
export async function compareCommits(
  request: OpenRequest,
  { tips }: LargeRepository,
): Promise<{ files: number; patches: number }> {
  const { repository } = await openState(request);
  const { graph } = repository;
  const [older, newer] = [tips[APART], tips[0]].map((oid) => graph.find(oid ?? "")) as [Node, Node];
  const [oldTree, newTree] = [await graph.loadRootOid(older), await graph.loadRootOid(newer)];
  const files = await findChangedFiles(repository, oldTree, newTree);
  const diff = await formatDiff(repository, oldTree, newTree as Oid);
  return {
    files: files?.length ?? 0,
    patches:
      Buffer.from(diff)
        .toString()
        .match(/^diff /gm)?.length ?? 0,
  };
}

/**
 * Works out whether a pull request can be merged, as opening and reading one does. Returns what it
 * changes.
 */
export async function checkMergeability(request: OpenRequest, { tips }: LargeRepository) {
  const { repository } = await openState(request);
  const { graph } = repository;
  const { mergeState, changedFiles } = await computeMergeability(
    repository,
    graph.find(tips[APART] ?? ""),
    graph.find(tips[0] ?? ""),
  );
  return { mergeState, changedFiles };
}

/**
 * Joins the packs of two repositories of one network, as a job does.
 *
 * @returns The repository of the joined pack, whose history is that of the second one.
 */
export async function joinRepositories(
  request: OpenRequest,
  first: LargeRepository,
  second: LargeRepository,
): Promise<LargeRepository> {
  const outcome = await request.stored.joinPacks([first.pack, second.pack], 0);
  const [pack] = request.replaced;
  if (outcome.kind !== "replaced" || !pack) throw new Error("the packs were not joined");
  return { ...second, pack };
}

/**
 * Lists the root tree of a commit, as `GET /git/trees/{sha}` does. Returns the number of its
 * entries.
 */
export async function listRoot(request: OpenRequest): Promise<number> {
  const snapshot = await openState(request);
  const tree = await findTree(snapshot, "main");
  if (!tree) throw new Error("no tree");
  const { items } = await listTree(snapshot.repository, tree.location, false, {
    offset: 0,
    size: 1000,
  });
  return items.length;
}
