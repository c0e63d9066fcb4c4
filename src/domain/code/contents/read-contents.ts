import { type ByteText, decodeText, encodeText, readByteText } from "../../../git/byte-text.ts";
import { parseCommit } from "../../../git/object/commit.ts";
import {
  isSubmoduleMode,
  isSymlinkMode,
  isTreeMode,
  isRegularMode,
  parseTreeInPieces,
  type TreeEntry,
} from "../../../git/object/tree.ts";
import { resident } from "../../../git/catalog/block-pool.ts";
import type { ObjectLocation } from "../../../git/catalog/pack-catalog.ts";
import type { Oid } from "../../../git/oid.ts";
import { type CommitGraph, NO_NODE, type Node } from "../../../git/walk/commit-graph.ts";
import {
  findLastCommits,
  type LastCommitSearch,
  startSearch,
} from "../../../git/walk/last-commits.ts";
import { findLastCommitsOfPaths } from "../../../git/walk/last-commits-of-paths.ts";
import type { ContentItem, LastCommit } from "../../../shapes/contents/contents.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import type { ResultKey } from "../../../storage/result-cache.ts";
import type { Revision } from "../git/find-revision.ts";
import { findEntries, findEntry, splitPath } from "./find-entry.ts";
import { POINTER_BYTES_MAX, readLfsPointer } from "./lfs-pointer.ts";
import { ENCODED_BYTES_MAX, readBlob } from "./read-blob.ts";
import { readSubmoduleUrls } from "./submodule-urls.ts";

/** Maximum length of a symlink target, in bytes: no common system follows a longer one. */
const TARGET_BYTES_MAX = 4096;

/** Parts to read in addition to names and ids. */
export interface Includes {
  /**
   * The sizes of files, which are looked up one by one: in a large repository the entries of a
   * directory are in as many blocks of its tables.
   */
  size?: boolean;
  /** The content of a single file. */
  content?: boolean;
  lfs?: boolean;
  /** The commit that last changed each entry. */
  commit?: boolean;
  message?: boolean;
  /**
   * How many steps a search for these commits takes while the caller waits. Those of a result by
   * default, which leave the rest to the next request; fewer continue after the response.
   */
  commitStepsMax?: number;
}

/** The contents at a path: one item, or the items of a directory. */
export type Contents =
  | { kind: "item"; item: ContentItem }
  | { kind: "directory"; items: ContentItem[] };

/**
 * Reads the contents at a path of a commit. A directory is listed in tree order.
 *
 * @returns Undefined if the path does not exist.
 */
export async function readContents(
  repository: OpenRepository,
  revision: Revision,
  names: readonly string[],
  includes: Includes,
): Promise<Contents | undefined> {
  const root = await repository.graph.loadRoot(revision.node);
  if (!root) return names.length === 0 ? { kind: "directory", items: [] } : undefined;
  const entry = await findEntry(repository, root, names);
  if (!entry) return undefined;
  const reader = new ContentsReader(repository, root, revision.node, includes);
  if (!isTreeMode(entry.mode)) return { kind: "item", item: await reader.readOne(names, entry) };
  const items = await reader.readDirectory(names, entry);
  return { kind: "directory", items };
}

/**
 * Reads the contents at several paths of a commit, in the order of `paths`: files with their
 * content, directories without their items. A path that does not exist, or is the root, is
 * undefined.
 *
 * Cost: reads each directory of the paths once and each file, and walks the history once for all
 * paths.
 *
 * @param contentCharsMax Budget for encoded contents, in characters: the list ends before a file
 * that would exceed it.
 */
export async function readManyContents(
  repository: OpenRepository,
  revision: Revision,
  paths: readonly string[],
  contentCharsMax: number,
  includes: Includes = MANY,
): Promise<(ContentItem | undefined)[]> {
  const root = await repository.graph.loadRoot(revision.node);
  if (!root) return paths.map(() => undefined);
  const reader = new ContentsReader(repository, root, revision.node, includes);
  return reader.readMany(paths.map(splitPath), contentCharsMax);
}

/**
 * A search for last commits as a cached result, by commit ids: the next request continues it while
 * commits wait.
 */
interface StoredSearch<Name> {
  found: [Name, Oid][];
  waiting: [Oid, Name[]][];
}

const toStoredSearch = <Name>(
  graph: CommitGraph,
  { found, waiting }: LastCommitSearch<Name>,
): StoredSearch<Name> => ({
  found: Array.from(found, ([name, node]) => [name, graph.oid(node)]),
  waiting: Array.from(waiting, ([node, names]) => [graph.oid(node), [...names]]),
});

const openSearch = <Name>(
  graph: CommitGraph,
  stored: StoredSearch<Name> | undefined,
): LastCommitSearch<Name> | undefined =>
  stored && {
    found: new Map(stored.found.map(([name, oid]) => [name, graph.find(oid)])),
    waiting: new Map(stored.waiting.map(([oid, names]) => [graph.find(oid), new Set(names)])),
  };

const MANY: Includes = { size: true, content: true, lfs: true, commit: true };

class ContentsReader {
  private readonly repository: OpenRepository;
  private readonly root: ObjectLocation;
  private readonly tip: Node;
  private readonly includes: Includes;
  private readonly commits = new Map<Node, LastCommit>();
  private urls: Map<string, string> | undefined;

  constructor(repository: OpenRepository, root: ObjectLocation, tip: Node, includes: Includes) {
    this.repository = repository;
    this.root = root;
    this.tip = tip;
    this.includes = includes;
  }

  async readOne(names: readonly string[], entry: TreeEntry): Promise<ContentItem> {
    const item = await this.readItem(names.join("/"), entry);
    const [last] = await this.findLastCommits(names.slice(0, -1), [entry]);
    item.lastCommit = last;
    return item;
  }

  async readMany(
    paths: readonly (readonly string[])[],
    contentCharsMax: number,
  ): Promise<(ContentItem | undefined)[]> {
    const { results, graph, catalog, objects } = this.repository;
    const entries = await findEntries(this.repository, this.root, paths);
    const items: (ContentItem | undefined)[] = [];
    let charsLeft = contentCharsMax;
    for (const [at, names] of paths.entries()) {
      const entry = names.length > 0 ? entries[at] : undefined;
      const sizeBytes =
        entry && isRegularMode(entry.mode)
          ? await resident(() => {
              const location = catalog.find(entry.oid);
              return location ? catalog.sizeBytes(location) : 0;
            })
          : 0;
      const chars = sizeBytes <= ENCODED_BYTES_MAX ? Math.ceil(sizeBytes / 3) * 4 : 0;
      if (chars > charsLeft) break;
      charsLeft -= chars;
      items.push(entry && (await this.readItem(names.join("/"), entry)));
    }
    const found = items.filter((item) => item !== undefined);
    const names = found.map(({ path }) => encodeText(path));
    const cacheKey: ResultKey = ["last commits of paths", graph.oid(this.tip), names];
    const { found: lasts } = await results.getOrContinue<StoredSearch<number>>(
      cacheKey,
      async (budget, known) => {
        const search = openSearch(graph, known) ?? startSearch(this.tip, names.keys());
        const counted = objects.within(budget);
        await findLastCommitsOfPaths(graph, catalog, counted, names, search, budget);
        return toStoredSearch(graph, search);
      },
    );
    const oids = new Map(lasts);
    for (const [at, item] of found.entries()) {
      const oid = oids.get(at);
      item.lastCommit = oid ? await this.readCommit(graph.find(oid)) : undefined;
    }
    return items;
  }

  /** Reads the item at a path, with the content of a file if requested. */
  private async readItem(path: string, entry: TreeEntry): Promise<ContentItem> {
    const item = await this.toItem(path, entry);
    const location = isRegularMode(entry.mode)
      ? await resident(() => this.repository.catalog.find(entry.oid))
      : undefined;
    if (location && this.includes.content) {
      const { encoding, content } = await readBlob(this.repository, location);
      Object.assign(item, { encoding, content });
    }
    return item;
  }

  async readDirectory(names: readonly string[], directory: TreeEntry): Promise<ContentItem[]> {
    const { catalog, objects } = this.repository;
    const location = await resident(() => catalog.find(directory.oid));
    const entries = location
      ? await parseTreeInPieces(await objects.readAt(location), objects.budget)
      : [];
    await catalog.loadOids(entries.flatMap((entry) => (this.isLookedUp(entry) ? [entry.oid] : [])));
    const above = names.map((name) => `${name}/`).join("");
    const lasts = await this.findLastCommits(names, entries);
    const items: ContentItem[] = [];
    for (const [at, entry] of entries.entries()) {
      const item = await this.toItem(above + decodeText(entry.name), entry);
      item.lastCommit = lasts[at];
      items.push(item);
    }
    return items;
  }

  /** Whether an entry's item has more of its object than the id. */
  private isLookedUp({ mode }: TreeEntry): boolean {
    const { size = false, lfs = false } = this.includes;
    const isBlob = !isTreeMode(mode) && !isSubmoduleMode(mode);
    return isBlob && (size || lfs || isSymlinkMode(mode));
  }

  private async toItem(path: string, entry: TreeEntry): Promise<ContentItem> {
    const { mode, oid } = entry;
    const { catalog, objects } = this.repository;
    const { location, sizeBytes } = await resident(() => {
      const found = this.isLookedUp(entry) ? catalog.find(oid) : undefined;
      return { location: found, sizeBytes: found ? catalog.sizeBytes(found) : 0 };
    });
    const isLink = isSymlinkMode(mode);
    const readsTarget = isLink && sizeBytes <= TARGET_BYTES_MAX;
    const mayBePointer = !isLink && this.includes.lfs && sizeBytes < POINTER_BYTES_MAX;
    const isRead =
      location && (readsTarget || mayBePointer) && !(await resident(() => objects.findLarge(oid)));
    const bytes = isRead ? await objects.readAt(location) : undefined;
    return {
      path,
      mode,
      oid,
      sizeBytes,
      encoding: null,
      content: null,
      target: bytes && isLink ? decodeText(readByteText(bytes)) : null,
      submoduleUrl: isSubmoduleMode(mode) ? await this.findSubmoduleUrl(path) : null,
      lfs: bytes && !isLink ? readLfsPointer(bytes) : undefined,
      lastCommit: undefined,
    };
  }

  private async findSubmoduleUrl(path: string): Promise<string | null> {
    this.urls ??= await readSubmoduleUrls(this.repository, this.root);
    return this.urls.get(path) ?? null;
  }

  /** Finds the last commit of each entry of a directory, if requested. */
  private async findLastCommits(
    directory: readonly string[],
    entries: readonly TreeEntry[],
  ): Promise<(LastCommit | undefined)[]> {
    if (!this.includes.commit && !this.includes.message) return [];
    const { results, graph, catalog, objects } = this.repository;
    const path = encodeText(directory.join("/"));
    const names = entries.map(({ name }) => name);
    // The path determines the names of a whole directory, so the key needs a name only for a single
    // entry.
    const onlyName = names.length === 1 ? names[0] : null;
    const cacheKey: ResultKey = ["last commits", graph.oid(this.tip), path, onlyName];
    const { found: stored, waiting } = await results.getOrContinue<StoredSearch<ByteText>>(
      cacheKey,
      async (budget, known) => {
        const search = openSearch(graph, known) ?? startSearch(this.tip, names);
        await findLastCommits(graph, catalog, objects.within(budget), path, search, budget);
        return toStoredSearch(graph, search);
      },
      this.includes.commitStepsMax,
    );
    const found = new Map(stored);
    const oids = names.map((name) => found.get(name));
    if (waiting.length > 0) return this.readCommits(oids);
    // A read for each entry of a directory is most of the work of listing it.
    const key: ResultKey = ["read last commits", ...cacheKey, this.includes.message ?? false];
    const commits = await results.getOrCompute(key, () => this.readCommits(oids));
    return commits.map((commit) => commit ?? undefined);
  }

  private async readCommits(
    oids: readonly (Oid | undefined)[],
  ): Promise<(LastCommit | undefined)[]> {
    const commits: (LastCommit | undefined)[] = [];
    for (const oid of oids) {
      const node = oid === undefined ? NO_NODE : this.repository.graph.find(oid);
      commits.push(node === NO_NODE ? undefined : await this.readCommit(node));
    }
    return commits;
  }

  private async readCommit(node: Node): Promise<LastCommit> {
    const known = this.commits.get(node);
    if (known) return known;
    const { graph, objects } = this.repository;
    const { author, committer, message } = parseCommit(await objects.readAt(graph.location(node)));
    const commit: LastCommit = {
      oid: graph.oid(node),
      committerSeconds: committer.timeSeconds,
      authorSeconds: author.timeSeconds,
      message: this.includes.message ? decodeText(message) : undefined,
    };
    this.commits.set(node, commit);
    return commit;
  }
}
