import { type ByteText, byteTextBytes, decodeText, readByteText } from "../../../git/byte-text.ts";
import type { ObjectLocation } from "../../../git/catalog/pack-catalog.ts";
import { WHOLE_BYTES_MAX } from "../../../git/catalog/packed-objects.ts";
import type { Budget } from "../../../git/budget.ts";
import { missing, overLimit } from "../../../git/error.ts";
import { matchGlob } from "../../../git/glob/match-glob.ts";
import { hashObject } from "../../../git/object/hash-object.ts";
import { kindOf } from "../../../git/object/kind.ts";
import {
  isRegularMode,
  isSubmoduleMode,
  isTreeMode,
  parseTree,
  type TreeEntry,
} from "../../../git/object/tree.ts";
import { EMPTY_TREE_OID, type Oid } from "../../../git/oid.ts";
import type { StoredObject } from "../../../git/store.ts";
import { TreeDraft } from "../../../git/tree-draft.ts";
import { invalid } from "../../../lib/failure.ts";
import { codec } from "../../../storage/codec.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import {
  type LfsPointer,
  POINTER_BYTES_MAX,
  readLfsPointer,
} from "../../code/contents/lfs-pointer.ts";
import { splitTreePath } from "../../code/contents/tree-path.ts";
import { expandVariables, pathVariables, type Variables } from "./expand-variables.ts";
import { readTemplateGlobs } from "./read-template-globs.ts";

/**
 * Bounds of what is generated: all of it is read, compressed and checked while the caller waits.
 */
const ENTRIES_MAX = 20_000;
const BYTES_MAX = 32 * 1024 * 1024;
/** Bounds of files with variables, which are held in memory. */
const EXPANDED_FILE_BYTES_MAX = 1024 * 1024;
const EXPANDED_BYTES_MAX = 8 * 1024 * 1024;

/** The file that lists the files with variables. It is not part of what is generated. */
export const GLOBS_FILE = [".gitea", "template"] as ByteText[];
const GLOBS_BYTES_MAX = 64 * 1024;

/** The objects of a generated tree. */
export interface ContentPlan {
  readonly rootOid: Oid;
  /** The number of objects. */
  readonly count: number;
  /** Reads the objects, each once. */
  objects(): AsyncGenerator<StoredObject>;
  /** The Git LFS pointers among the files, by oid. */
  readonly pointers: ReadonlyMap<string, LfsPointer>;
}

/**
 * Plans the files of a generated repository: the files of the template's tree. Variables in the
 * files that `.gitea/template` lists, and in their paths, are replaced by their values.
 *
 * Modes, symlinks, submodules and binary files stay as they are. Nothing is written.
 *
 * @param hasLargeFiles Whether to look for pointers, which reads every small file.
 * @throws GitError `limit` if the template is too large; Failure `invalid` if an expanded path is
 * no path, or two files get the same.
 */
export async function planContent(
  repository: OpenRepository,
  rootOid: Oid,
  variables: Variables,
  budget: Budget,
  hasLargeFiles: boolean,
): Promise<ContentPlan> {
  const planner = new Planner(repository, budget);
  const newRootOid = await planner.expand(rootOid, variables);
  return planner.collect(newRootOid, hasLargeFiles);
}

/** A file of the template whose content or path has variables. */
interface Expansion {
  readonly from: readonly ByteText[];
  readonly to: readonly ByteText[];
  readonly mode: number;
  readonly oid: Oid;
}

class Planner {
  private readonly repository: OpenRepository;
  private readonly budget: Budget;
  /** Objects that the template does not have, by oid. */
  private readonly made = new Map<Oid, StoredObject>();
  private expandedBytes = 0;

  constructor(repository: OpenRepository, budget: Budget) {
    this.repository = repository;
    this.budget = budget;
  }

  /** Expands variables. @returns The id of the new tree. */
  async expand(rootOid: Oid, variables: Variables): Promise<Oid> {
    const draft = new TreeDraft(this.repository.objects, rootOid);
    const list = await draft.find(GLOBS_FILE);
    if (!list || !isRegularMode(list.mode)) return rootOid;
    const globs = readTemplateGlobs(await this.readBlob(list.oid, GLOBS_BYTES_MAX));
    await draft.remove(GLOBS_FILE);

    const expansions: Expansion[] = [];
    const forPaths = pathVariables(variables);
    for await (const { names, entry } of this.listFiles(rootOid)) {
      const path = names.join("/") as ByteText;
      const text = decodeText(path);
      const isListed = globs.some((glob) => matchGlob(glob, text, this.budget));
      if (this.budget.isExhausted)
        throw overLimit("the patterns of the template take too much work");
      if (!isListed || path === GLOBS_FILE.join("/")) continue;
      const to = splitTreePath(expandVariables(path, forPaths, Number.POSITIVE_INFINITY));
      const oid = await this.expandBlob(entry.oid, variables);
      expansions.push({ from: names, to, mode: entry.mode, oid });
    }
    await applyExpansions(draft, expansions);
    return draft.write((content) => this.add({ kind: "tree", content }));
  }

  /** Collects the objects of the new tree. */
  async collect(rootOid: Oid, hasLargeFiles: boolean): Promise<ContentPlan> {
    const { catalog } = this.repository;
    const copied: ObjectLocation[] = [];
    const used = new Map<Oid, StoredObject>();
    const seen = new Set<Oid>();
    const pointers = new Map<string, LfsPointer>();
    const stack: { oid: Oid; isTree: boolean }[] = [{ oid: rootOid, isTree: true }];
    let bytes = 0;
    for (let item = stack.pop(); item; item = stack.pop()) {
      const { oid, isTree } = item;
      if (seen.has(oid)) continue;
      seen.add(oid);
      const own = this.made.get(oid);
      const location = own ? undefined : catalog.find(oid);
      if (own) used.set(oid, own);
      else if (location) copied.push(location);
      else if (oid === EMPTY_TREE_OID) continue;
      else throw missing(`object ${oid}`);
      const size = own ? own.content.length : catalog.sizeBytes(location as ObjectLocation);
      bytes += size;
      if (seen.size > ENTRIES_MAX || bytes > BYTES_MAX) throw tooLargeTemplate();
      if (size > WHOLE_BYTES_MAX) {
        throw overLimit(`a file of a template may have ${WHOLE_BYTES_MAX} bytes at most`);
      }
      if (isTree) {
        for (const entry of parseTree((await this.read(oid)).content)) {
          if (isSubmoduleMode(entry.mode)) continue;
          stack.push({ oid: entry.oid, isTree: isTreeMode(entry.mode) });
        }
      } else if (hasLargeFiles && size < POINTER_BYTES_MAX) {
        const pointer = readLfsPointer((await this.read(oid)).content);
        if (pointer) pointers.set(pointer.oid, pointer);
      }
    }
    const { objects } = this.repository;
    return {
      rootOid,
      count: used.size + copied.length,
      pointers,
      async *objects() {
        yield* used.values();
        for (const location of copied) {
          yield { kind: kindOf(catalog.kind(location)), content: await objects.readAt(location) };
        }
      },
    };
  }

  /** Lists the regular files of the template with their paths. */
  private async *listFiles(
    rootOid: Oid,
  ): AsyncGenerator<{ names: readonly ByteText[]; entry: TreeEntry }> {
    const stack: { oid: Oid; names: readonly ByteText[] }[] = [{ oid: rootOid, names: [] }];
    let count = 0;
    for (let item = stack.pop(); item; item = stack.pop()) {
      for (const entry of parseTree((await this.read(item.oid)).content)) {
        if (++count > ENTRIES_MAX) throw tooLargeTemplate();
        const names = [...item.names, entry.name];
        if (isTreeMode(entry.mode)) stack.push({ oid: entry.oid, names });
        else if (isRegularMode(entry.mode)) yield { names, entry };
      }
    }
  }

  /**
   * Expands the variables of a file. @returns The id of the new content; the same for a binary
   * file.
   */
  private async expandBlob(oid: Oid, variables: Variables): Promise<Oid> {
    const content = await this.readBlob(oid, EXPANDED_FILE_BYTES_MAX);
    if (content.includes(0)) return oid;
    const text = readByteText(content);
    const expanded = expandVariables(text, variables, EXPANDED_FILE_BYTES_MAX);
    if (expanded === text) return oid;
    this.expandedBytes += expanded.length;
    if (this.expandedBytes > EXPANDED_BYTES_MAX) {
      throw overLimit(`files with variables may have ${EXPANDED_BYTES_MAX} bytes together at most`);
    }
    return this.add({ kind: "blob", content: byteTextBytes(expanded) });
  }

  private add(object: StoredObject): Oid {
    const oid = hashObject(object.kind, object.content, codec);
    if (!this.repository.catalog.find(oid)) this.made.set(oid, object);
    return oid;
  }

  private async read(oid: Oid): Promise<StoredObject> {
    const made = this.made.get(oid);
    if (made) return made;
    if (oid === EMPTY_TREE_OID) return { kind: "tree", content: new Uint8Array(0) };
    const found = await this.repository.objects.readObject(oid);
    if (!found) throw missing(`object ${oid}`);
    return found;
  }

  private async readBlob(oid: Oid, bytesMax: number): Promise<Uint8Array> {
    const { catalog } = this.repository;
    const location = catalog.find(oid);
    if (!location) throw missing(`blob ${oid}`);
    if (catalog.sizeBytes(location) > bytesMax) {
      throw overLimit(`a file with variables may have ${bytesMax} bytes at most`);
    }
    return this.repository.objects.readAt(location);
  }
}

const tooLargeTemplate = () =>
  overLimit(
    `a template may have ${ENTRIES_MAX} files and directories, and ${BYTES_MAX} bytes, at most`,
  );

/**
 * Moves and replaces files, first all away from their old paths: one may get the path that another
 * had.
 */
async function applyExpansions(draft: TreeDraft, expansions: readonly Expansion[]): Promise<void> {
  const isMoved = ({ from, to }: Expansion): boolean => from.join("/") !== to.join("/");
  const moved = expansions.filter(isMoved);
  for (const { from } of moved) await draft.remove(from);
  for (const { from, mode, oid } of expansions.filter((each) => !isMoved(each))) {
    await draft.put(from, { mode, oid });
  }
  for (const { to, mode, oid } of moved) {
    if ((await draft.findObstacle(to)) || (await draft.find(to))) {
      throw invalid(
        `two files of the template get the path ${decodeText(to.join("/") as ByteText)}`,
      );
    }
    await draft.put(to, { mode, oid });
  }
}
