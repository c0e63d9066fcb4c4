import { type Budget, UNLIMITED } from "../budget.ts";
import type { ByteText } from "../byte-text.ts";
import type { PackCatalog } from "../catalog/pack-catalog.ts";
import type { PackedObjects } from "../catalog/packed-objects.ts";
import { findRenameSource } from "../diff/renames.ts";
import { diffTrees, type PathChange, type PathEntry } from "../diff/tree-diff.ts";
import { GitError, overLimit } from "../error.ts";
import { isTreeMode, MODE_TYPE } from "../object/tree.ts";
import type { Oid } from "../oid.ts";
import { type CommitGraph, NO_NODE, type Node } from "../walk/commit-graph.ts";
import { byGeneration, type NodeQueue } from "../walk/node-queue.ts";
import { PathFinder } from "../walk/path-finder.ts";
import { joinRanges, type LineRange, splitRanges } from "./line-ranges.ts";
import { LineTexts } from "./line-texts.ts";

/** Steps to look at a version of the file and at each parent, beside those of the reads. */
const STEPS_PER_VERSION = 200;
const STEPS_PER_PARENT = 50;
/** Steps to split a range of lines. */
const STEPS_PER_RANGE = 8;

/** A commit that changes more files is not searched for a rename. */
const CHANGES_MAX = 100_000;

/** A file in a commit. */
export interface FileVersion {
  readonly commitOid: Oid;
  readonly path: ByteText;
}

/** A version of the file from which lines come. */
interface LineSource extends FileVersion {
  /** The version before, in the first parent that has the file; undefined without one. */
  readonly previous: FileVersion | undefined;
  /** Whether the budget ended here: the lines may come from an earlier version. */
  readonly isOpen: boolean;
}

/** Lines of the file that come from one version. */
interface BlamedRange extends LineRange {
  /** The index of the version in `sources`. */
  readonly source: number;
}

/** The origin of each line of a file. It survives JSON. */
export interface Blame {
  readonly sources: readonly LineSource[];
  /** All lines of the file, in order. */
  readonly ranges: readonly BlamedRange[];
}

/** A repository's history and its objects. */
export interface BlamedHistory {
  readonly catalog: PackCatalog;
  readonly graph: CommitGraph;
  readonly objects: PackedObjects;
}

/** A blame for which nothing has been looked at yet. */
export const openBlame = (version: FileVersion, lineCount: number): Blame => ({
  sources: [{ ...version, previous: undefined, isOpen: true }],
  ranges: lineCount === 0 ? [] : [{ line: 0, count: lineCount, sourceLine: 0, source: 0 }],
});

/**
 * Finds the commit that each line of a file comes from, as `git blame` does by default: a line
 * belongs to a commit if no parent has it, and the file is followed through renames.
 *
 * Cost: for each commit walked, the trees down to the path that have not been read before; for each
 * version of the file, a read and a comparison with the version after it; for the commit that added
 * a path, a comparison of its whole tree.
 *
 * @param start `openBlame`, or the result of an earlier walk, which continues.
 * @param budget Once it is exhausted, the versions reached so far are open.
 * @see `assign_blame` and `pass_blame` in git's blame.c
 */
export const blame = (
  history: BlamedHistory,
  start: Blame,
  budget: Budget = UNLIMITED,
): Promise<Blame> => new BlameWalk(history, budget).run(start);

/** A version of the file, and the lines of which it is the earliest known version. */
interface Suspect {
  readonly node: Node;
  readonly entry: PathEntry;
  ranges: LineRange[];
  previous: FileVersion | undefined;
}

/** The file in a parent. */
interface ParentFile {
  readonly node: Node;
  readonly entry: PathEntry;
}

class BlameWalk {
  private readonly history: BlamedHistory;
  private readonly budget: Budget;
  private readonly texts: LineTexts;
  /** Children first: a commit is looked at once, with all lines that its children passed to it. */
  private readonly queue: NodeQueue;
  private readonly waiting = new Map<Node, Map<ByteText, Suspect>>();
  private readonly finders = new Map<ByteText, PathFinder>();
  private readonly sources: LineSource[] = [];
  private readonly ranges: BlamedRange[] = [];

  constructor(history: BlamedHistory, budget: Budget) {
    this.history = { ...history, objects: history.objects.within(budget) };
    this.budget = budget;
    this.texts = new LineTexts(this.history.objects, budget);
    this.queue = byGeneration(history.graph);
  }

  async run(start: Blame): Promise<Blame> {
    await this.resume(start);
    for (let node = this.queue.pop(); node !== undefined; node = this.queue.pop()) {
      const suspects = this.waiting.get(node) ?? new Map<ByteText, Suspect>();
      this.waiting.delete(node);
      for (const suspect of suspects.values()) this.settle(suspect, await this.pass(suspect));
    }
    return { sources: this.sources, ranges: joinRanges(this.ranges) };
  }

  /** Takes over what an earlier walk found, and continues with the versions that it left open. */
  private async resume({ sources, ranges }: Blame): Promise<void> {
    const bySource = Map.groupBy(ranges, ({ source }) => source);
    for (const [at, source] of sources.entries()) {
      const own = bySource.get(at) ?? [];
      const suspect = source.isOpen ? await this.find(source) : undefined;
      if (suspect) this.add(suspect, own);
      else this.keep(source, own);
    }
  }

  private async find({ commitOid, path }: FileVersion): Promise<ParentFile | undefined> {
    const node = this.history.graph.find(commitOid);
    const entry = node === NO_NODE ? undefined : await this.entryAt(node, path);
    return entry && { node, entry };
  }

  private keep(source: LineSource, ranges: readonly LineRange[]): void {
    if (ranges.length === 0) return;
    const at = this.sources.push(source) - 1;
    for (const range of ranges) this.ranges.push({ ...range, source: at });
  }

  private settle({ node, entry, ranges, previous }: Suspect, isOpen: boolean): void {
    const commitOid = this.history.graph.oid(node);
    this.keep({ commitOid, path: entry.path, previous, isOpen }, ranges);
  }

  /** @returns Whether the budget did not suffice: some lines may come from a parent. */
  private async pass(suspect: Suspect): Promise<boolean> {
    this.budget.consume(STEPS_PER_VERSION);
    if (this.budget.isExhausted) return true;
    const pausing = this.budget.pause();
    if (pausing) await pausing;
    try {
      await this.passToParents(suspect);
      return false;
    } catch (error) {
      if (error instanceof GitError && error.code === "limit") return true;
      throw error;
    }
  }

  private async passToParents(suspect: Suspect): Promise<void> {
    const { entry } = suspect;
    const files = await this.findInParents(suspect);
    for (const file of files) {
      if (!file) continue;
      if (file.entry.oid === entry.oid) {
        this.add(file, suspect.ranges);
        suspect.ranges = [];
        return;
      }
    }
    for (const file of files) {
      if (!file) continue;
      const commitOid = this.history.graph.oid(file.node);
      suspect.previous ??= { commitOid, path: file.entry.path };
      const changes = await this.texts.compare(file.entry.oid, entry.oid);
      const { kept, passed } = splitRanges(suspect.ranges, changes);
      this.budget.consume(STEPS_PER_RANGE * (changes.length + kept.length + passed.length));
      suspect.ranges = kept;
      this.add(file, passed);
      if (kept.length === 0) return;
    }
  }

  /**
   * The file in each parent, at its path or where it was renamed from; ends with the first that is
   * the same.
   */
  private async findInParents({ node, entry }: Suspect): Promise<(ParentFile | undefined)[]> {
    const parents = this.history.graph.parents(node);
    const files: (ParentFile | undefined)[] = [];
    const lacking: number[] = [];
    for (const [at, parent] of parents.entries()) {
      this.budget.consume(STEPS_PER_PARENT);
      const found = parent === NO_NODE ? undefined : await this.entryAt(parent, entry.path);
      if (parent !== NO_NODE && (!found || isTreeMode(found.mode))) lacking.push(at);
      // A link that became a file, say, is another thing.
      if (!found || (found.mode & MODE_TYPE) !== (entry.mode & MODE_TYPE)) continue;
      if (this.put(files, at, { node: parent, entry: found }, entry.oid)) return files;
    }
    for (const at of lacking) {
      const parent = parents[at] as Node;
      const found = await this.findRenamed(parent, node, entry.path);
      if (!found) continue;
      if (this.put(files, at, { node: parent, entry: found }, entry.oid)) return files;
    }
    return files;
  }

  /**
   * Adds the file of a parent, unless an earlier parent has the same.
   *
   * @returns Whether it is the file that is looked for.
   */
  private put(files: (ParentFile | undefined)[], at: number, file: ParentFile, oid: Oid): boolean {
    this.budget.consume(at);
    const isKnown = files.some((other, index) => index < at && other?.entry.oid === file.entry.oid);
    if (!isKnown) files[at] = file;
    return file.entry.oid === oid;
  }

  private async entryAt(node: Node, path: ByteText): Promise<PathEntry | undefined> {
    const { catalog, graph, objects } = this.history;
    const finder = this.finders.get(path) ?? new PathFinder(catalog, objects, path);
    this.finders.set(path, finder);
    const occupant = await finder.findAt(graph, node);
    if (occupant === "") return undefined;
    const [mode = "", oid = ""] = occupant.split(" ");
    return { path, mode: Number.parseInt(mode, 8), oid };
  }

  private async findRenamed(
    parent: Node,
    node: Node,
    path: ByteText,
  ): Promise<PathEntry | undefined> {
    const { graph, objects } = this.history;
    const roots = [await graph.loadRootOid(parent), await graph.loadRootOid(node)] as const;
    let changes: PathChange[];
    try {
      changes = await diffTrees(objects, ...roots, { changesMax: CHANGES_MAX });
    } catch (error) {
      const isTooLarge = error instanceof GitError && error.code === "limit";
      if (!isTooLarge || this.budget.isExhausted) throw error;
      return undefined;
    }
    const budget = this.budget.half();
    const source = await findRenameSource(objects, changes, path, budget);
    // Contents that were not compared may be those of the file.
    if (budget.isExhausted) throw overLimit("too many files to compare for a rename");
    return source;
  }

  private add({ node, entry }: ParentFile, ranges: readonly LineRange[]): void {
    if (ranges.length === 0) return;
    let suspects = this.waiting.get(node);
    if (!suspects) {
      suspects = new Map();
      this.waiting.set(node, suspects);
      this.queue.push(node);
    }
    const known = suspects.get(entry.path);
    if (known) known.ranges = known.ranges.concat(ranges);
    else suspects.set(entry.path, { node, entry, ranges: [...ranges], previous: undefined });
  }
}
