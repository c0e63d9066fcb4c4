import { isRegularMode } from "../../../git/object/tree.ts";
import type { Commit } from "../../../git/object/commit.ts";
import { parseCommit } from "../../../git/object/commit.ts";
import type { Oid } from "../../../git/oid.ts";
import type { Node } from "../../../git/walk/commit-graph.ts";
import { tooLarge } from "../../../lib/failure.ts";
import { fileOfAddress, FOOTER, SIDEBAR } from "../../../shapes/wiki/wiki-path.ts";
import { listCommits } from "../commits/list-commits.ts";
import { findEntries } from "../contents/find-entry.ts";
import type { Revision } from "../git/find-revision.ts";
import type { Listed, Slice } from "../../slice.ts";
import type { OpenWiki, WikiFile } from "./open-wiki.ts";

/** Maximum size of a page, in bytes. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024;

/** A commit of a wiki. */
export interface WikiCommitEntry {
  readonly oid: Oid;
  readonly commit: Commit;
}

/** The text of a page or of another file. */
export interface WikiText {
  /** The id of the blob. */
  readonly oid: Oid;
  readonly content: Uint8Array;
}

/** A page with what stands beside it and below it. */
export interface WikiPageEntry {
  readonly file: WikiFile;
  readonly text: WikiText;
  readonly sidebar: WikiText | undefined;
  readonly footer: WikiText | undefined;
  /** The number of commits that changed it. */
  readonly commitCount: number;
  /** Undefined while its history is not known so far back. */
  readonly lastCommit: WikiCommitEntry | undefined;
}

/**
 * Reads a page, at its newest or at another revision of the wiki.
 *
 * Cost: a read of each directory on its path and of three files, and its history, which is cached.
 *
 * @returns Undefined if the revision has no such file.
 * @throws Failure `too_large` for a page of more than 4 MB.
 */
export async function readWikiPage(
  wiki: OpenWiki,
  file: WikiFile,
  revision: Revision = wiki.revision,
): Promise<WikiPageEntry | undefined> {
  const paths = [file.path, fileOfAddress(SIDEBAR), fileOfAddress(FOOTER)];
  const [text, sidebar, footer] = await readTexts(wiki, paths, revision);
  if (!text) return undefined;
  const { items, total } = await listRevisions(wiki, file, { size: 1, offset: 0 }, revision);
  const [lastCommit] = items;
  return { file, text, sidebar, footer, commitCount: total, lastCommit };
}

/**
 * Reads files of a wiki; undefined for each that does not exist, or is a link or a submodule, and
 * for each but the first that is too large: the page is shown without it.
 *
 * @throws Failure `too_large` for the first.
 */
async function readTexts(
  { snapshot: { repository } }: OpenWiki,
  paths: readonly string[],
  { node }: Revision,
): Promise<(WikiText | undefined)[]> {
  const { graph, objects, catalog } = repository;
  const root = await graph.loadRoot(node);
  if (!root) return paths.map(() => undefined);
  const entries = await findEntries(
    repository,
    root,
    paths.map((path) => path.split("/")),
  );
  const texts: (WikiText | undefined)[] = [];
  for (const [at, entry] of entries.entries()) {
    const sized =
      entry && isRegularMode(entry.mode) ? await catalog.findSized(entry.oid) : undefined;
    const isTooLarge = sized !== undefined && sized.sizeBytes > PAGE_BYTES_MAX;
    if (isTooLarge && at === 0) {
      throw tooLarge(`a page may have ${PAGE_BYTES_MAX} bytes at most`);
    }
    const found = entry && sized && !isTooLarge && (await objects.readObject(entry.oid));
    texts.push(found ? { oid: entry.oid, content: found.content } : undefined);
  }
  return texts;
}

/** Lists the commits that changed a page, latest first. Cost: as `listCommits` with a path. */
export async function listRevisions(
  wiki: OpenWiki,
  { path }: WikiFile,
  slice: Slice,
  { node }: Revision = wiki.revision,
): Promise<Listed<WikiCommitEntry>> {
  const { items, total } = await listCommits(wiki.snapshot, { tips: [node], path }, slice);
  return { items: await readWikiCommits(wiki, items), total };
}

/** Reads commits of a wiki, without the accounts of their authors. */
export async function readWikiCommits(
  { snapshot: { repository } }: OpenWiki,
  nodes: readonly Node[],
): Promise<WikiCommitEntry[]> {
  const { graph, objects } = repository;
  const commits: WikiCommitEntry[] = [];
  for (const node of nodes) {
    const commit = parseCommit(await objects.readAt(graph.location(node)));
    commits.push({ oid: graph.oid(node), commit });
  }
  return commits;
}
