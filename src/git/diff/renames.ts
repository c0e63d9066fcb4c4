import { isSubmoduleMode, MODE_TYPE } from "../object/tree.ts";
import type { Oid } from "../oid.ts";
import type { ObjectReader } from "../store.ts";
import {
  areSizesTooFar,
  cutPieces,
  type Pieces,
  SCORE_MAX,
  scoreSimilarity,
} from "./similarity.ts";
import type { PathChange, PathEntry } from "./tree-diff.ts";

export interface RenameOptions {
  /** Least similarity of a rename, 0 to 100. Git's default is 50. */
  readonly similarityPercentMin: number;
  /** Pairs that are compared by content; with more, only exact renames and equal names are found. */
  readonly pairsMax: number;
  /** Largest content that is compared, in bytes. */
  readonly contentBytesMax: number;
}

/** Git's own defaults: a limit of 1000 deleted by 1000 added files. */
export const DEFAULT_RENAME_OPTIONS: RenameOptions = {
  similarityPercentMin: 50,
  pairsMax: 1_000_000,
  contentBytesMax: 4 * 1024 * 1024,
};

/** A file that is gone and one that is new, put together. */
interface Pair {
  readonly old: PathEntry;
  readonly new: PathEntry;
  readonly score: number;
}

/**
 * Turns pairs of deleted and added files into renames, as `git diff -M`: first the same content,
 * then files that kept their name in another directory, then the most alike.
 *
 * Cost: each content that may be part of a rename is read once; only their pieces are kept.
 *
 * @returns The changes in the order of their new paths.
 */
export async function findRenames(
  objects: ObjectReader,
  changes: readonly PathChange[],
  options: RenameOptions = DEFAULT_RENAME_OPTIONS,
): Promise<PathChange[]> {
  const finder = new RenameFinder(objects, changes, options);
  return finder.run();
}

class RenameFinder {
  private readonly objects: ObjectReader;
  private readonly changes: readonly PathChange[];
  private readonly options: RenameOptions;
  private readonly olds = new Map<string, PathEntry>();
  private readonly news = new Map<string, PathEntry>();
  private readonly pairs: Pair[] = [];
  private readonly pieces = new Map<Oid, Pieces | undefined>();

  constructor(objects: ObjectReader, changes: readonly PathChange[], options: RenameOptions) {
    this.objects = objects;
    this.changes = changes;
    this.options = options;
    for (const change of changes) {
      if (change.kind === "deleted") this.olds.set(change.old.path, change.old);
      if (change.kind === "added") this.news.set(change.new.path, change.new);
    }
  }

  async run(): Promise<PathChange[]> {
    if (this.olds.size > 0 && this.news.size > 0) {
      this.pairExact();
      const scoreMin = (this.options.similarityPercentMin * SCORE_MAX) / 100;
      await this.pairByName(scoreMin);
      if (this.olds.size * this.news.size <= this.options.pairsMax) {
        await this.pairMostAlike(scoreMin);
      }
    }
    return this.collect();
  }

  private pair(old: PathEntry, fresh: PathEntry, score: number): void {
    this.pairs.push({ old, new: fresh, score });
    this.olds.delete(old.path);
    this.news.delete(fresh.path);
  }

  /** Pairs files of the same content, those of the same name first. */
  private pairExact(): void {
    const byOid = new Map<Oid, PathEntry[]>();
    for (const old of this.olds.values()) {
      const list = byOid.get(old.oid);
      if (list) list.push(old);
      else byOid.set(old.oid, [old]);
    }
    for (const fresh of this.news.values()) {
      const candidates = (byOid.get(fresh.oid) ?? []).filter(
        (old) => this.olds.has(old.path) && isSameType(old, fresh) && !isSubmoduleMode(old.mode),
      );
      const same = candidates.find((old) => baseName(old.path) === baseName(fresh.path));
      const old = same ?? candidates[0];
      if (old) this.pair(old, fresh, SCORE_MAX);
    }
  }

  /** Pairs files whose name is gone once and new once, if they are much alike. */
  private async pairByName(scoreMin: number): Promise<void> {
    const olds = uniqueByName(this.olds.values());
    const news = uniqueByName(this.news.values());
    const nameScoreMin = scoreMin + (SCORE_MAX - scoreMin) / 2;
    for (const [name, fresh] of news) {
      const old = olds.get(name);
      if (!old || !fresh) continue;
      const score = await this.score(old, fresh, nameScoreMin);
      if (score >= nameScoreMin) this.pair(old, fresh, score);
    }
  }

  /** Pairs what is left, best first. */
  private async pairMostAlike(scoreMin: number): Promise<void> {
    const found: (Pair & { isSameName: boolean })[] = [];
    for (const fresh of this.news.values()) {
      for (const old of this.olds.values()) {
        const score = await this.score(old, fresh, scoreMin);
        if (score < scoreMin) continue;
        const isSameName = baseName(old.path) === baseName(fresh.path);
        found.push({ old, new: fresh, score, isSameName });
      }
    }
    found.sort((a, b) => b.score - a.score || Number(b.isSameName) - Number(a.isSameName));
    for (const { old, new: fresh, score } of found) {
      if (this.olds.has(old.path) && this.news.has(fresh.path)) this.pair(old, fresh, score);
    }
  }

  private async score(old: PathEntry, fresh: PathEntry, scoreMin: number): Promise<number> {
    if (!isSameType(old, fresh) || isSubmoduleMode(old.mode)) return 0;
    const oldPieces = await this.piecesOf(old.oid);
    const newPieces = await this.piecesOf(fresh.oid);
    if (!oldPieces || !newPieces) return 0;
    if (areSizesTooFar(oldPieces.sizeBytes, newPieces.sizeBytes, scoreMin)) return 0;
    return scoreSimilarity(oldPieces, newPieces);
  }

  private async piecesOf(oid: Oid): Promise<Pieces | undefined> {
    if (this.pieces.has(oid)) return this.pieces.get(oid);
    const found = await this.objects.readObject(oid);
    const isUsable = found && found.content.length <= this.options.contentBytesMax;
    const pieces = isUsable ? cutPieces(found.content) : undefined;
    this.pieces.set(oid, pieces);
    return pieces;
  }

  private collect(): PathChange[] {
    const renamed = new Map(this.pairs.map((pair) => [pair.new.path, pair]));
    const gone = new Set(this.pairs.map((pair) => pair.old.path));
    const result: PathChange[] = [];
    for (const change of this.changes) {
      if (change.kind === "deleted" && gone.has(change.old.path)) continue;
      const pair = change.kind === "added" ? renamed.get(change.new.path) : undefined;
      if (pair) {
        const similarityPercent = Math.floor((pair.score * 100) / SCORE_MAX);
        result.push({ kind: "renamed", old: pair.old, new: pair.new, similarityPercent });
      } else {
        result.push(change);
      }
    }
    return result;
  }
}

const isSameType = (a: PathEntry, b: PathEntry): boolean =>
  (a.mode & MODE_TYPE) === (b.mode & MODE_TYPE);

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Entries by their name without directories; undefined for a name that stands twice. */
function uniqueByName(entries: Iterable<PathEntry>): Map<string, PathEntry | undefined> {
  const byName = new Map<string, PathEntry | undefined>();
  for (const entry of entries) {
    const name = baseName(entry.path);
    byName.set(name, byName.has(name) ? undefined : entry);
  }
  return byName;
}
