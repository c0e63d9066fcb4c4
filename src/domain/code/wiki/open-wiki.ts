import { requireAccess } from "../../../auth/access/permission.ts";
import type { Ctx } from "../../../context.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { addressOfFile, fileOfAddress } from "../../../shapes/wiki/wiki-path.ts";
import { listPaths } from "../contents/list-paths.ts";
import { findRevision, type Revision } from "../git/find-revision.ts";
import { readSnapshot, type RepositorySnapshot } from "../git/open-snapshot.ts";
import { toWiki } from "./to-wiki.ts";

/** A page of a wiki as its git data has it. */
export interface WikiFile {
  /** The address below `…/wiki/`, canonical. */
  readonly address: string;
  /** The path of the file. */
  readonly path: string;
}

/** A wiki that is open for reading. */
export interface OpenWiki {
  /** The wiki as a repository, see `toWiki`. */
  readonly repo: RepositoryContext;
  readonly snapshot: RepositorySnapshot;
  /** Of the branch that has the pages. */
  readonly revision: Revision;
  /** All pages, in the order of their files. */
  readonly pages: readonly WikiFile[];
  /** The other files, in the same order. */
  readonly files: readonly string[];
}

/**
 * Reads from the wiki of a repository.
 *
 * Cost: as `readSnapshot`, and a read of each directory unless the list of files is cached. None
 * for a wiki to which nothing was pushed.
 *
 * @param work As of `readSnapshot`.
 * @returns Undefined for a wiki without commits.
 * @throws Failure `not_found` if the caller may not read the wiki, or if it is disabled.
 */
export async function readWiki<T>(
  ctx: Ctx,
  repo: RepositoryContext,
  work: (wiki: OpenWiki) => Promise<T>,
): Promise<T | undefined> {
  requireAccess(repo, { unit: "wiki", mode: "read" });
  if (repo.row.wikiBranch === "") return undefined;
  const wiki = toWiki(repo);
  return readSnapshot(ctx, wiki, async (snapshot) => {
    const revision = await findRevision(snapshot, "HEAD");
    if (!revision) return undefined;
    const { paths } = await listPaths(snapshot.repository, revision);
    return work({ repo: wiki, snapshot, revision, ...divide(paths) });
  });
}

/** Divides files into pages and others. Of two files of one address, one is the page. */
function divide(paths: readonly string[]): Pick<OpenWiki, "pages" | "files"> {
  const pages = new Map<string, WikiFile>();
  const files: string[] = [];
  for (const path of paths) {
    const address = addressOfFile(path);
    if (address === undefined) files.push(path);
    else if (!pages.has(address) || fileOfAddress(address) === path) {
      pages.set(address, { address, path });
    }
  }
  return { pages: [...pages.values()], files };
}

/**
 * Finds a page by its address. A slash in a title and one between folders are the same where only
 * one of the two exists.
 */
export function findWikiPage(
  { pages }: Pick<OpenWiki, "pages">,
  address: string,
): WikiFile | undefined {
  const flat = flatten(address);
  return (
    pages.find((page) => page.address === address) ??
    pages.find((page) => flatten(page.address) === flat)
  );
}

const flatten = (address: string): string => address.replaceAll("%2F", "/");

/**
 * Finds the page that a link may mean which names none: the only one of this name in any folder,
 * without regard to case.
 */
export function findMeantPage(
  { pages }: Pick<OpenWiki, "pages">,
  address: string,
): WikiFile | undefined {
  const nameOf = (each: string): string => each.slice(each.lastIndexOf("/") + 1).toLowerCase();
  const name = nameOf(flatten(address));
  const [found, ...others] = pages.filter((page) => nameOf(flatten(page.address)) === name);
  return others.length === 0 ? found : undefined;
}
