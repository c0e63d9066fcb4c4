import { decodeText, encodeText, readByteText } from "../../git/byte-text.ts";
import { TREE } from "../../git/object/kind.ts";
import {
  isSubmoduleMode,
  isSymlinkMode,
  isTreeMode,
  parseTree,
  type TreeEntry,
} from "../../git/object/tree.ts";
import type { Place } from "../../git/pack/pack-catalog.ts";
import type { OpenRepository } from "../../storage/open-repository.ts";
import { findEntry } from "./find-entry.ts";

/** Where a repository's README is looked for behind its root, as Gitea does. */
const DIRECTORIES = ["docs", ".gitea", ".github"];
/** From the best to the worst; any other ending comes behind. */
const ENDINGS = [".md", ".txt", ""];

/** Links that lead to one another at most, and the longest that is followed, in bytes. */
const HOPS_MAX = 8;
const TARGET_BYTES_MAX = 4096;

/** A README: what it is called, and the file that holds it. */
export interface Readme {
  /** Its path; where that is a symlink, not where it leads. */
  readonly path: string;
  readonly entry: TreeEntry;
}

/**
 * The README of a directory; of the root also that of a few others, where it has none.
 *
 * Cost: one read for each directory that is looked into, and for a link those of its way.
 */
export async function findReadme(
  repository: OpenRepository,
  root: Place,
  directory: readonly string[],
): Promise<Readme | undefined> {
  const places = directory.length > 0 ? [directory] : [[], ...DIRECTORIES.map((name) => [name])];
  for (const place of places) {
    const found = await findIn(repository, root, place);
    if (found) return found;
  }
  return undefined;
}

async function findIn(
  repository: OpenRepository,
  root: Place,
  directory: readonly string[],
): Promise<Readme | undefined> {
  const { catalog, objects } = repository;
  const tree = await findEntry(repository, root, directory);
  const place = tree && isTreeMode(tree.mode) ? catalog.find(tree.oid) : undefined;
  if (!place || catalog.kind(place) !== TREE) return undefined;
  const readmes = parseTree(await objects.readPlace(place))
    .map((entry) => ({ entry, rank: rankOf(entry.name) }))
    .filter(({ rank }) => rank >= 0)
    .toSorted((a, b) => a.rank - b.rank);
  for (const { entry } of readmes) {
    const path = [...directory, decodeText(entry.name)];
    const file = await followLink(repository, root, path, entry);
    if (file) return { path: path.join("/"), entry: file };
  }
  return undefined;
}

/** How good a name is, 0 for the best; less than 0 if it is that of no README. */
function rankOf(name: string): number {
  const [, ending] = /^readme(|\..*)$/i.exec(name) ?? [];
  if (ending === undefined) return -1;
  const rank = ENDINGS.indexOf(ending.toLowerCase());
  return rank < 0 ? ENDINGS.length : rank;
}

/**
 * The file that an entry is or, by symlinks, leads to.
 *
 * SECURITY: a link leads to what is in the tree, and to nothing else.
 */
async function followLink(
  repository: OpenRepository,
  root: Place,
  path: readonly string[],
  entry: TreeEntry,
): Promise<TreeEntry | undefined> {
  let at: TreeEntry | undefined = entry;
  let names = path;
  for (let hop = 0; at && isSymlinkMode(at.mode); hop++) {
    const place = repository.catalog.find(at.oid);
    const isFollowed = place && repository.catalog.sizeBytes(place) <= TARGET_BYTES_MAX;
    if (!isFollowed || hop === HOPS_MAX) return undefined;
    const target = decodeText(readByteText(await repository.objects.readPlace(place)));
    const next = resolve(names.slice(0, -1), target);
    if (!next) return undefined;
    names = next;
    at = await findEntry(repository, root, names);
  }
  return at && !isTreeMode(at.mode) && !isSubmoduleMode(at.mode) ? at : undefined;
}

/** Where a link of a directory leads; undefined if that is outside of the tree. */
function resolve(directory: readonly string[], target: string): string[] | undefined {
  if (target.startsWith("/") || encodeText(target).includes("\0")) return undefined;
  const names = [...directory];
  for (const name of target.split("/")) {
    if (name === "" || name === ".") continue;
    if (name !== "..") names.push(name);
    else if (names.pop() === undefined) return undefined;
  }
  return names;
}
