import { AttributeStack } from "../attributes/attribute-stack.ts";
import { type Budget, UNLIMITED } from "../budget.ts";
import { type ByteText, readByteText } from "../byte-text.ts";
import { missing } from "../error.ts";
import {
  isSubmoduleMode,
  isSymlinkMode,
  isTreeMode,
  MODE_EXECUTABLE,
  MODE_FILE,
  MODE_SUBMODULE,
  MODE_TREE,
  MODE_TYPE,
  parseTreeInPieces,
  type TreeEntry,
} from "../object/tree.ts";
import type { Oid } from "../oid.ts";
import type { PackCatalog, ObjectLocation } from "../catalog/pack-catalog.ts";
import type { PackedObjects } from "../catalog/packed-objects.ts";
import { EXPORT_ATTRIBUTES, type ExportRules, readExportRules } from "./export-content.ts";

/** An archive entry whose content has not been read yet. */
export interface ListedEntry {
  /** The path from the root of the tree, "" for the root itself; a directory ends with a slash. */
  readonly path: ByteText;
  readonly mode: number;
  readonly oid: Oid;
  /** Location of the content; undefined for an entry without content. */
  readonly location: ObjectLocation | undefined;
  readonly rules: ExportRules;
}

/** Larger `.gitattributes` files are ignored, in bytes. */
const ATTRIBUTES_BYTES_MAX = 1024 * 1024;

/** Steps to list an entry, beside those to match its attributes. */
const ENTRY_STEPS = 300;

const ATTRIBUTES_NAME = ".gitattributes";

/** A directory whose entries are being listed. */
interface Frame {
  readonly path: ByteText;
  readonly entries: readonly TreeEntry[];
  readonly attributes: AttributeStack;
  /** The directory's own entry, until it is listed. */
  waiting: ListedEntry | undefined;
  at: number;
}

/**
 * Lists the entries of an archive of a tree, in the archive's order, without the entries that
 * attributes exclude.
 *
 * As in git, a directory is listed before the first file below it, even if that file is excluded; a
 * directory without files is not listed.
 *
 * Cost: one read for each tree and each `.gitattributes`.
 *
 * @param budget Bounds the matching of attributes.
 * @throws GitError `missing` if a tree or blob does not exist, `limit` once the budget is
 *   exhausted.
 */
export async function* listEntries(
  catalog: PackCatalog,
  objects: PackedObjects,
  root: ObjectLocation,
  budget: Budget = UNLIMITED,
): AsyncGenerator<ListedEntry> {
  const lister = new EntryLister(catalog, objects, budget);
  yield* lister.list(root);
}

class EntryLister {
  private readonly catalog: PackCatalog;
  private readonly objects: PackedObjects;
  private readonly frames: Frame[] = [];
  private readonly budget: Budget;

  constructor(catalog: PackCatalog, objects: PackedObjects, budget: Budget) {
    this.budget = budget;
    this.catalog = catalog;
    this.objects = objects;
  }

  async *list(root: ObjectLocation): AsyncGenerator<ListedEntry> {
    const { frames } = this;
    const top: ListedEntry = {
      path: "" as ByteText,
      mode: MODE_TREE,
      oid: this.catalog.oid(root),
      location: undefined,
      rules: NO_RULES,
    };
    yield top;
    await this.enter(root, undefined, top.path);
    for (let frame = frames.at(-1); frame; frame = frames.at(-1)) {
      const entry = frame.entries[frame.at++];
      if (!entry) {
        frames.pop();
        continue;
      }
      await this.budget.pause(ENTRY_STEPS);
      const listed = this.toListed(frame, entry);
      if (isTreeMode(entry.mode)) {
        if (listed.rules.isIgnored) continue;
        const location = this.catalog.find(entry.oid);
        if (!location) throw missing(`tree ${entry.oid}`);
        await this.enter(location, listed, listed.path);
        continue;
      }
      for (const above of frames) {
        if (above.waiting) yield above.waiting;
        above.waiting = undefined;
      }
      if (!listed.rules.isIgnored) yield listed;
    }
  }

  private toListed(frame: Frame, { name, mode: stored, oid }: TreeEntry): ListedEntry {
    const mode = toCanonical(stored);
    const isFolder = isTreeMode(mode) || isSubmoduleMode(mode);
    const path = `${frame.path}${name}${isFolder ? "/" : ""}` as ByteText;
    const rules = readExportRules(frame.attributes.find(path, this.budget));
    const location = isFolder ? undefined : this.catalog.find(oid);
    if (!isFolder && !location) throw missing(`blob ${oid}`);
    return { path, mode, oid, location, rules };
  }

  private async enter(
    tree: ObjectLocation,
    waiting: ListedEntry | undefined,
    path: ByteText,
  ): Promise<void> {
    const entries = await parseTreeInPieces(await this.objects.readAt(tree), this.budget);
    const text = await this.readAttributes(entries);
    const above = this.frames.at(-1)?.attributes;
    const attributes = above
      ? above.enter(path.slice(0, -1) as ByteText, text)
      : AttributeStack.root(text, EXPORT_ATTRIBUTES);
    this.frames.push({ path, entries, attributes, waiting, at: 0 });
  }

  private async readAttributes(entries: readonly TreeEntry[]): Promise<ByteText> {
    const entry = entries.find(({ name }) => name === ATTRIBUTES_NAME);
    const isFile = entry && !isTreeMode(entry.mode) && !isSubmoduleMode(entry.mode);
    const location = isFile ? this.catalog.find(entry.oid) : undefined;
    if (!location || this.catalog.sizeBytes(location) > ATTRIBUTES_BYTES_MAX) return "" as ByteText;
    if (this.objects.findLarge(this.catalog.oid(location))) return "" as ByteText;
    return readByteText(await this.objects.readAt(location));
  }
}

/** The mode as git interprets it; old modes have further bits. */
function toCanonical(mode: number): number {
  if (isTreeMode(mode) || isSymlinkMode(mode)) return mode & MODE_TYPE;
  if ((mode & MODE_TYPE) !== (MODE_FILE & MODE_TYPE)) return MODE_SUBMODULE;
  return (mode & 0o100) === 0 ? MODE_FILE : MODE_EXECUTABLE;
}

const NO_RULES: ExportRules = {
  isIgnored: false,
  lineEnds: undefined,
  hasIdent: false,
  isSubstituted: false,
  isBinary: undefined,
};
