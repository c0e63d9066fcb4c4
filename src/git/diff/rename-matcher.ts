import { isRegularMode } from "../object/tree.ts";
import type { Oid } from "../oid.ts";
import type { ObjectReader } from "../store.ts";
import {
  areSizesTooFar,
  cutPieces,
  type Pieces,
  SCORE_MAX,
  scoreSimilarity,
} from "./similarity.ts";
import type { PathEntry } from "./tree-diff.ts";

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

/** Different pieces kept of all contents together, eight bytes each. Others are like nothing. */
const PIECES_MAX = 4_000_000;
/** Pieces compared, all pairs together, before the rest is taken as not alike. */
const COMPARISONS_MAX = 400_000_000;
/** How many candidates are kept for each new file. */
const CANDIDATES_MAX = 4;
/** Files of the same content that are looked at for each new file. */
const SAME_CONTENT_MAX = 100;

/** A file that content may have come from. */
export interface RenameSource {
  readonly entry: PathEntry;
  /** Files that have their content from it; one more if it stays itself. */
  useCount: number;
}

/** A new file. */
export interface RenameTarget {
  readonly entry: PathEntry;
  /** Where its content came from. */
  source: RenameSource | undefined;
  /** Of `SCORE_MAX`. */
  score: number;
}

interface Candidate {
  readonly source: RenameSource;
  readonly target: RenameTarget;
  readonly score: number;
  /** 1 if the name without directories is the same. */
  readonly nameScore: number;
}

/**
 * Finds out where new files have their content from, step by step, in git's order.
 *
 * Cost: each content that takes part is read once, and its pieces are kept (`PIECES_MAX`).
 */
export class RenameMatcher {
  sources: RenameSource[];
  readonly targets: readonly RenameTarget[];
  private readonly objects: ObjectReader;
  private readonly options: RenameOptions;
  private readonly pieces = new Map<Oid, Pieces | undefined>();
  private pieceCount = 0;
  private comparisons = 0;

  constructor(
    objects: ObjectReader,
    options: RenameOptions,
    sources: RenameSource[],
    news: readonly PathEntry[],
  ) {
    this.objects = objects;
    this.options = options;
    this.sources = sources;
    this.targets = news.map((entry) => ({ entry, source: undefined, score: 0 }));
  }

  private get scoreMin(): number {
    return Math.floor((this.options.similarityPercentMin * SCORE_MAX) / 100);
  }

  /** Pairs files of the same content, those of the same name first. */
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

  /** Takes those out that were moved already. */
  dropUsedSources(): void {
    this.sources = this.sources.filter((source) => source.useCount === 0);
  }

  /**
   * Pairs files whose name is gone once and new once, if they are much alike.
   *
   * @param isRelevant Which sources are tried.
   * @param guess Where to look for a file whose name is not unique: its new path, if that is known.
   */
  async pairByName(
    isRelevant: (source: RenameSource) => boolean = () => true,
    guess: (path: string) => string | undefined = () => undefined,
  ): Promise<void> {
    const open = this.targets.filter((target) => !target.source);
    const targetsByPath = new Map(open.map((target) => [target.entry.path as string, target]));
    const sourcesByName = uniqueByName(this.sources);
    const targetsByName = uniqueByName(open);
    const scoreMin = this.scoreMin + Math.floor((SCORE_MAX - this.scoreMin) / 2);
    for (const source of this.sources) {
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

  /** Pairs what is left, best first. */
  async pairMostAlike(hasCopies = false): Promise<void> {
    const open = this.targets.filter((target) => !target.source);
    if (open.length * this.sources.length > this.options.pairsMax) return;
    const { scoreMin } = this;
    const found: Candidate[] = [];
    for (const target of open) {
      const best: Candidate[] = [];
      for (const source of this.sources) {
        const score = await this.score(source.entry, target.entry, scoreMin);
        const nameScore = Number(hasSameName(source.entry, target.entry));
        // Those hardly alike too: whose place one takes decides between equals.
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
    if (!isRegular(old) || !isRegular(fresh)) return 0;
    const oldPieces = await this.piecesOf(old.oid);
    const newPieces = await this.piecesOf(fresh.oid);
    if (!oldPieces || !newPieces) return 0;
    if (areSizesTooFar(oldPieces.sizeBytes, newPieces.sizeBytes, scoreMin)) return 0;
    if (this.comparisons > COMPARISONS_MAX) return 0;
    this.comparisons += oldPieces.hashes.length + newPieces.hashes.length;
    return scoreSimilarity(oldPieces, newPieces);
  }

  private async piecesOf(oid: Oid): Promise<Pieces | undefined> {
    if (this.pieces.has(oid)) return this.pieces.get(oid);
    const found = await this.objects.readObject(oid);
    const isUsable = found && found.content.length <= this.options.contentBytesMax;
    let pieces = isUsable ? cutPieces(found.content) : undefined;
    if (pieces && this.pieceCount + pieces.hashes.length > PIECES_MAX) pieces = undefined;
    this.pieceCount += pieces?.hashes.length ?? 0;
    this.pieces.set(oid, pieces);
    return pieces;
  }
}

function pair(source: RenameSource, target: RenameTarget, score: number): void {
  source.useCount++;
  target.source = source;
  target.score = score;
}

/** Keeps the best few. A better one takes the place of the worst, as git has it. */
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

/** Files may differ in permission; other entries are the same only with the same mode. */
const isAlikeInMode = (a: PathEntry, b: PathEntry): boolean =>
  a.mode === b.mode || (isRegular(a) && isRegular(b));

const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

const hasSameName = (a: PathEntry, b: PathEntry): boolean => baseName(a.path) === baseName(b.path);

/** By their name without directories; undefined for a name that stands twice. */
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
