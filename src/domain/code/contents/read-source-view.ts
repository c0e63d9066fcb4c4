import type { Ctx } from "../../../context.ts";
import { encodeText } from "../../../git/byte-text.ts";
import { resident } from "../../../git/catalog/block-pool.ts";
import {
  isRegularMode,
  isSymlinkMode,
  isTreeMode,
  MODE_EXECUTABLE,
} from "../../../git/object/tree.ts";
import type { ContentItem } from "../../../shapes/contents/contents.ts";
import type { CommitEntry } from "../../../shapes/git/commit.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { readCommits } from "../commits/read-commits.ts";
import type { Revision } from "../git/find-revision.ts";
import type { RepositorySnapshot } from "../git/open-snapshot.ts";
import { detectContentType } from "./content-type.ts";
import { openMedia } from "./open-content.ts";
import { readContents } from "./read-contents.ts";

/** Maximum size of a file whose text is shown, in bytes; Gitea's is the same. */
const SHOWN_BYTES_MAX = 8 * 1024 * 1024;

/** A file as a page shows it. */
export interface ShownFile {
  readonly name: string;
  readonly path: string;
  readonly sizeBytes: number;
  /** The media type that the file is served with. */
  readonly type: string;
  /** The text; undefined for a file that is no text, or that is too large to be shown. */
  readonly text: string | undefined;
  readonly kind: "file" | "executable" | "symlink" | "submodule";
  /** Whether the content is that of an LFS object. */
  readonly isLfs: boolean;
  /** Of a submodule: its URL, and the commit that it is at. */
  readonly submodule: { readonly url: string; readonly oid: string } | undefined;
}

/** What a page of a path shows: its file or directory, and its last commit. */
export interface SourceView {
  readonly revision: Revision;
  /** Without leading or trailing slash; "" for the root. */
  readonly path: string;
  /** A file; undefined for a directory. */
  readonly file: ShownFile | undefined;
  /**
   * The entries of a directory: directories first, each kind in the order of the tree. Some have no
   * last commit if the search for it goes on after the response.
   */
  readonly items: readonly ContentItem[];
  /** The document that a directory shows below its entries. */
  readonly readme: ShownFile | undefined;
  /** Undefined if the search for it goes on after the response. */
  readonly lastCommit: CommitEntry | undefined;
}

/**
 * Steps of one request's search for last commits, some 40 ms of processor time: a reader waits for
 * the page. The search is continued after the response.
 */
const COMMIT_STEPS_MAX = 4_000_000;

const COMMIT_PARTS = { hasStat: false, hasFiles: false, hasVerification: true } as const;

/**
 * Reads the file or directory at a path of a revision, for a page.
 *
 * Cost: as `readContents` with last commits, and a read of the file or the document; one round trip
 * of the database for the author, the signature and the statuses, and one for a file that is an LFS
 * pointer.
 *
 * @returns Undefined if the path does not exist.
 */
export async function readSourceView(
  ctx: Ctx,
  repo: RepositoryContext,
  snapshot: RepositorySnapshot,
  revision: Revision,
  names: readonly string[],
): Promise<SourceView | undefined> {
  const { repository } = snapshot;
  const { graph } = repository;
  const includes = { commit: true, message: true, commitStepsMax: COMMIT_STEPS_MAX };
  const found = await readContents(repository, revision, names, includes);
  if (!found) return undefined;
  const items = found.kind === "directory" ? directoriesFirst(found.items) : [];
  const show = (item: ContentItem) => readShownFile(ctx, repo, snapshot, revision, item);
  const readmeItem = findReadme(items);
  const lastOid = (found.kind === "item" ? found.item : newestOf(items))?.lastCommit?.oid;
  // The root's last commit is that of the revision, also where it changed no file.
  const oid = names.length === 0 ? revision.commitOid : lastOid;
  const nodes = oid === undefined ? [] : [graph.find(oid)];
  const [lastCommit] = await readCommits(ctx, snapshot, nodes, {
    ...COMMIT_PARTS,
    statusesOf: repo.row,
  });
  return {
    revision,
    path: names.join("/"),
    file: found.kind === "item" ? await show(found.item) : undefined,
    items,
    readme: readmeItem && (await show(readmeItem)),
    lastCommit,
  };
}

const directoriesFirst = (items: readonly ContentItem[]): ContentItem[] => [
  ...items.filter(({ mode }) => isTreeMode(mode)),
  ...items.filter(({ mode }) => !isTreeMode(mode)),
];

/** The entry that changed last: its last commit is that of the directory. */
function newestOf(items: readonly ContentItem[]): ContentItem | undefined {
  const timeOf = ({ lastCommit }: ContentItem) => lastCommit?.committerSeconds ?? 0;
  return items.toSorted((a, b) => timeOf(b) - timeOf(a))[0];
}

/** Names of a directory's document, by preference. */
const READMES = [/^readme\.(?:md|markdown|mdown|mkd)$/i, /^readme(?:\.txt)?$/i, /^readme\./i];

/** The document among the entries of a directory. */
export function findReadme(items: readonly ContentItem[]): ContentItem | undefined {
  const files = items.filter(({ mode }) => isRegularMode(mode));
  for (const pattern of READMES) {
    const found = files.find(({ path }) => pattern.test(nameOf(path)));
    if (found) return found;
  }
  return undefined;
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** Reads a file of a directory, for a page. */
export async function readShownFile(
  ctx: Ctx,
  repo: RepositoryContext,
  snapshot: RepositorySnapshot,
  revision: Revision,
  item: ContentItem,
): Promise<ShownFile> {
  const { path, mode, oid, submoduleUrl } = item;
  const name = nameOf(path);
  const { catalog } = snapshot.repository;
  const location = await resident(() => catalog.find(oid));
  const shown = { name, path, isLfs: false, submodule: undefined, kind: kindOf(mode) };
  // A submodule's commit is in another repository.
  if (!location) {
    const submodule = { url: submoduleUrl ?? "", oid };
    return { ...shown, sizeBytes: 0, type: "", text: undefined, submodule };
  }
  const entry = { mode, name: encodeText(name), oid };
  const content = await openMedia(ctx, repo.row, snapshot, { entry, name, location, revision });
  const { sizeBytes } = content;
  const pieces = content.stream();
  const { value: first = new Uint8Array(0) } = await pieces.next();
  const type = detectContentType(name, first);
  const isText = type.startsWith("text/plain") && sizeBytes <= SHOWN_BYTES_MAX;
  const decoder = new TextDecoder();
  let text = isText ? decoder.decode(first, { stream: true }) : undefined;
  if (text !== undefined) {
    for await (const piece of pieces) text += decoder.decode(piece, { stream: true });
    text += decoder.decode();
  }
  await pieces.return(undefined);
  return { ...shown, sizeBytes, type, text, isLfs: content.oid !== oid };
}

function kindOf(mode: number): ShownFile["kind"] {
  if (isSymlinkMode(mode)) return "symlink";
  if (!isRegularMode(mode)) return "submodule";
  return mode === MODE_EXECUTABLE ? "executable" : "file";
}
