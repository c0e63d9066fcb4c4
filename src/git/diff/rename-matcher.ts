import { type Budget, finishInTurns, UNLIMITED } from "../budget.ts";
import { GitError } from "../error.ts";
import { isRegularMode } from "../object/tree.ts";
import type { Oid } from "../oid.ts";
import type { ObjectReader } from "../store.ts";
import {
  areSizesTooFar,
  type Pieces,
  piecesInTurns,
  SCORE_MAX,
  scoreSimilarity,
} from "./similarity.ts";
import type { PathEntry } from "./tree-diff.ts";

export interface RenameOptions {
  /** Minimum similarity of a rename, 0 to 100. Git's default is 50. */
  readonly similarityPercentMin: number;
  /**
   * Maximum pairs compared by content; with more, only exact renames and equal file names are
   * matched.
   */
  readonly pairsMax: number;
  /** Largest content to compare, in bytes. */
  readonly contentBytesMax: number;
}

/** Git's own defaults: a limit of 1000 deleted by 1000 added files. */
export const DEFAULT_RENAME_OPTIONS: RenameOptions = {
  similarityPercentMin: 50,
  pairsMax: 1_000_000,
  contentBytesMax: 4 * 1024 * 1024,
};

/**
 * Maximum pieces kept for all contents together, eight bytes each. Contents over the limit are not
 * compared.
 */
const PIECES_MAX = 4_000_000;
/** Maximum pieces compared for all pairs together; the remaining pairs count as not similar. */
const COMPARISONS_MAX = 400_000_000;
/** Steps to cut a byte of content into pieces, to compare a piece, and to examine a pair. */
const STEPS = { byte: 0.6, piece: 0.5, pair: 10 } as const;
/** How many candidates are kept for each new file. */
const CANDIDATES_MAX = 4;
/** Sources with the same content that are examined for each new file. */
const SAME_CONTENT_MAX = 100;

/** A file from which a new file may have been renamed or copied. */
export interface RenameSource {
  readonly entry: PathEntry;
  /** Number of files paired with this source, plus one if the source itself still exists. */
  useCount: number;
}

/** A new file, to be paired with a source. */
export interface RenameTarget {
  readonly entry: PathEntry;
  /** The source it is paired with. */
  source: RenameSource | undefined;
  /** Similarity to the source, 0 to `SCORE_MAX`. */
  score: number;
}

interface Candidate {
  readonly source: RenameSource;
  readonly target: RenameTarget;
  readonly score: number;
  /** 1 if the file names without directories are equal, else 0. */
  readonly nameScore: number;
}

/**
 * Pairs new files with the files they were renamed or copied from, in the same steps and order as
 * git.
 *
 * Cost: each content that is compared is read once, and its pieces are kept (up to `PIECES_MAX`).
 */
export class RenameMatcher {
  sources: RenameSource[];
  readonly targets: readonly RenameTarget[];
  private readonly objects: ObjectReader;
  private readonly options: RenameOptions;
  private readonly pieces = new Map<Oid, Pieces | undefined>();
  private pieceCount = 0;
  private comparisons = 0;
  private readonly budget: Budget;

  /** @param budget Once it is exhausted, contents count as not similar. */
  constructor(
    objects: ObjectReader,
    options: RenameOptions,
    sources: RenameSource[],
    news: readonly PathEntry[],
    budget: Budget = UNLIMITED,
  ) {
    this.budget = budget;
    this.objects = objects;
    this.options = options;
    this.sources = sources;
    this.targets = news.map((entry) => ({ entry, source: undefined, score: 0 }));
  }

  private get scoreMin(): number {
    return Math.floor((this.options.similarityPercentMin * SCORE_MAX) / 100);
  }

  /** Pairs files with the same content, preferring files with the same name. */
  pairExact(hasCopies = false): void {
    const byOid = new Map<Oid, RenameSource[]>();
    for (const source of this.sources) {
      const list = byOid.get(source.entry.oid);
      if (list) list.push(source);
      else byOid.set(source.entry.oid, [source]);
    }
    for (const target of this.targets) {
      let best: RenameSource | undefined;
      let bestScore = -1;
      let left = SAME_CONTENT_MAX;
      for (const source of byOid.get(target.entry.oid) ?? []) {
        if (!isAlikeInMode(source.entry, target.entry)) continue;
        if (source.useCount > 0 && !hasCopies) continue;
        const nameScore = Number(hasSameName(source.entry, target.entry));
        const score = Number(source.useCount === 0) + nameScore;
        if (score > bestScore) {
          best = source;
          bestScore = score;
        }
        if (score === 2 || --left === 0) break;
      }
      if (best) pair(best, target, SCORE_MAX);
    }
  }

  /** Removes sources that are already paired. */
  dropUsedSources(): void {
    this.sources = this.sources.filter((source) => source.useCount === 0);
  }

  /**
   * Pairs a source and a new file whose file name is unique among sources and among new files, if
   * they are similar enough.
   *
   * @param isRelevant Selects the sources to try.
   * @param guess For a source without such a match: predicts its new path, undefined if unknown.
   */
  async pairByName(
    isRelevant: (source: RenameSource) => boolean = () => true,
    guess: (path: string) => string | undefined = () => undefined,
  ): Promise<void> {
    const unpaired = this.targets.filter((target) => !target.source);
    const targetsByPath = new Map(unpaired.map((target) => [target.entry.path as string, target]));
    const sourcesByName = uniqueByName(this.sources);
    const targetsByName = uniqueByName(unpaired);
    const scoreMin = this.scoreMin + Math.floor((SCORE_MAX - this.scoreMin) / 2);
    for (const source of this.sources) {
      await this.budget.pause(STEPS.pair);
      const name = baseName(source.entry.path);
      if (!isRelevant(source) || !targetsByName.has(name)) continue;
      const isUnique = sourcesByName.get(name) !== undefined;
      const byName = isUnique ? targetsByName.get(name) : undefined;
      const target = byName ?? targetsByPath.get(guess(source.entry.path) ?? "");
      if (!target || target.source) continue;
      const score = await this.score(source.entry, target.entry, scoreMin);
      if (score >= scoreMin) pair(source, target, score);
    }
  }

  /** Pairs the remaining files by similarity, best pairs first. */
  async pairMostAlike(hasCopies = false): Promise<void> {
    const unpaired = this.targets.filter((target) => !target.source);
    if (unpaired.length * this.sources.length > this.options.pairsMax) return;
    const { scoreMin } = this;
    const found: Candidate[] = [];
    for (const target of unpaired) {
      const best: Candidate[] = [];
      if (this.budget.isExhausted) break;
      await this.budget.pause();
      for (const source of this.sources) {
        const pausing = this.budget.pause();
        if (pausing) await pausing;
        const score = await this.score(source.entry, target.entry, scoreMin);
        const nameScore = Number(hasSameName(source.entry, target.entry));
        // Dissimilar candidates are kept too: which entry a better candidate replaces decides
        // between equals.
        keepBetter(best, { source, target, score, nameScore });
      }
      found.push(...best.filter((candidate) => candidate.score >= scoreMin));
    }
    const ordered = found.toSorted(compareCandidates);
    for (const isCopyRound of hasCopies ? [false, true] : [false]) {
      for (const { source, target, score } of ordered) {
        if (!target.source && (isCopyRound || source.useCount === 0)) pair(source, target, score);
      }
    }
  }

  private async score(old: PathEntry, fresh: PathEntry, scoreMin: number): Promise<number> {
    this.budget.consume(STEPS.pair);
    if (!isRegular(old) || !isRegular(fresh)) return 0;
    const oldPieces = await this.piecesOf(old.oid);
    const newPieces = await this.piecesOf(fresh.oid);
    if (!oldPieces || !newPieces) return 0;
    if (areSizesTooFar(oldPieces.sizeBytes, newPieces.sizeBytes, scoreMin)) return 0;
    if (this.comparisons > COMPARISONS_MAX || this.budget.isExhausted) return 0;
    const comparisons = oldPieces.hashes.length + newPieces.hashes.length;
    this.comparisons += comparisons;
    this.budget.consume(STEPS.piece * comparisons);
    return scoreSimilarity(oldPieces, newPieces);
  }

  private async piecesOf(oid: Oid): Promise<Pieces | undefined> {
    if (this.pieces.has(oid)) return this.pieces.get(oid);
    const content = this.budget.isExhausted ? undefined : await this.read(oid);
    const isUsable = content && content.length <= this.options.contentBytesMax;
    this.budget.consume(STEPS.byte * (content?.length ?? 0), true);
    const cutting = isUsable ? piecesInTurns(content, STEPS.byte) : undefined;
    let pieces = cutting && (await finishInTurns(cutting, this.budget));
    if (pieces && this.pieceCount + pieces.hashes.length > PIECES_MAX) pieces = undefined;
    this.pieceCount += pieces?.hashes.length ?? 0;
    this.pieces.set(oid, pieces);
    return pieces;
  }

  /** Undefined for a content that is missing, too large, or beyond the budget of the reader. */
  private async read(oid: Oid): Promise<Uint8Array | undefined> {
    try {
      return (await this.objects.readObject(oid))?.content;
    } catch (error) {
      if (error instanceof GitError && error.code === "limit") return undefined;
      throw error;
    }
  }
}

function pair(source: RenameSource, target: RenameTarget, score: number): void {
  source.useCount++;
  target.source = source;
  target.score = score;
}

/**
 * Keeps the best few candidates. A better candidate replaces the worst in its position, as in git.
 */
function keepBetter(best: Candidate[], candidate: Candidate): void {
  if (best.length < CANDIDATES_MAX) {
    best.push(candidate);
    return;
  }
  let worst = 0;
  for (let at = 1; at < best.length; at++) {
    if (compareCandidates(best[at] as Candidate, best[worst] as Candidate) > 0) worst = at;
  }
  if (compareCandidates(best[worst] as Candidate, candidate) > 0) best[worst] = candidate;
}

const compareCandidates = (a: Candidate, b: Candidate): number =>
  b.score - a.score || b.nameScore - a.nameScore;

const isRegular = (entry: PathEntry): boolean => isRegularMode(entry.mode);

/** Regular files may differ in permissions; other entries must have the same mode. */
const isAlikeInMode = (a: PathEntry, b: PathEntry): boolean =>
  a.mode === b.mode || (isRegular(a) && isRegular(b));

const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

const hasSameName = (a: PathEntry, b: PathEntry): boolean => baseName(a.path) === baseName(b.path);

/**
 * Maps items by file name without directories; a name that occurs more than once maps to undefined.
 */
function uniqueByName<T extends { readonly entry: PathEntry }>(
  items: Iterable<T>,
): Map<string, T | undefined> {
  const byName = new Map<string, T | undefined>();
  for (const item of items) {
    const name = baseName(item.entry.path);
    byName.set(name, byName.has(name) ? undefined : item);
  }
  return byName;
}
