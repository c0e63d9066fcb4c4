import { NO_NODE } from "../../../git/walk/commit-graph.ts";
import type { Listed, Slice } from "../../slice.ts";
import { readManyContents } from "../contents/read-contents.ts";
import type { OpenWiki, WikiFile } from "./open-wiki.ts";
import { readWikiCommits, type WikiCommitEntry } from "./read-page.ts";

/** A page of a list. */
export interface ListedPage extends WikiFile {
  /** The commit that last changed it; undefined while that is not known. */
  readonly lastCommit: WikiCommitEntry | undefined;
}

/**
 * Lists pages of a wiki with the commits that last changed them.
 *
 * Cost: one walk of the history for all of them, which is cached, and a read for each.
 *
 * @param pages Which of the wiki's pages, in the order of the list.
 */
export async function listPages(
  wiki: OpenWiki,
  { size, offset }: Slice,
  pages: readonly WikiFile[] = wiki.pages,
): Promise<Listed<ListedPage>> {
  const listed = pages.slice(offset, offset + size);
  const { repository } = wiki.snapshot;
  const paths = listed.map(({ path }) => path);
  const contents = await readManyContents(repository, wiki.revision, paths, Infinity, {
    commit: true,
  });
  const items: ListedPage[] = [];
  for (const [at, page] of listed.entries()) {
    const oid = contents[at]?.lastCommit?.oid;
    const node = oid === undefined ? NO_NODE : repository.graph.find(oid);
    const [lastCommit] = node === NO_NODE ? [] : await readWikiCommits(wiki, [node]);
    items.push({ ...page, lastCommit });
  }
  return { items, total: pages.length };
}
