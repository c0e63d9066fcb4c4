import { type Budget, finishInTurns } from "../budget.ts";
import { type ByteText, encodeUtf8 } from "../byte-text.ts";
import { resident } from "../catalog/block-pool.ts";
import type { Compressor } from "../codec.ts";
import { formatBinaryPatch, stepsToEncode } from "../diff/binary-patch.ts";
import { type FileStat, formatDiffStat } from "../diff/diffstat.ts";
import { diffLines, isBinary, type LineDiff } from "../diff/line-diff.ts";
import { countLines } from "../diff/line-stat.ts";
import {
  formatPatchHead,
  patchBodyInTurns,
  type PatchContent,
  stepsToFormat,
} from "../diff/patch.ts";
import { type PathChange, type PathEntry, splitTypeChange } from "../diff/tree-diff.ts";
import { missing, overLimit } from "../error.ts";
import { isSubmoduleMode } from "../object/tree.ts";
import type { Oid } from "../oid.ts";
import type { ObjectReader } from "../store.ts";

export interface FormatOptions {
  readonly compressor: Compressor;
  /** Abbreviates blob ids in the patch. Binary patches always show full ids. */
  readonly abbreviate: (oid: Oid) => string;
  /** Maximum size of a file's content, in bytes. */
  readonly contentBytesMax: number;
  /** Maximum size of the patch, in bytes. */
  readonly patchBytesMax: number;
  /**
   * Bounds the comparisons, and the patch as a whole, since a patch without one of its files can't
   * be applied.
   */
  readonly budget: Budget;
}

/**
 * Formats changes as a diffstat and as a patch that can be applied, including binary files.
 *
 * @param changes With renames, ordered by path. A file whose comparison takes too much of the
 * budget is shown as replaced whole (see `diffLines`).
 *
 * @throws GitError `limit` if a file or the patch exceeds its maximum size, or the patch exceeds
 *   the budget.
 */
export async function formatChanges(
  objects: ObjectReader,
  changes: readonly PathChange[],
  options: FormatOptions,
): Promise<{ stat: ByteText; patch: ByteText }> {
  const formatter = new ChangeFormatter(objects, options);
  const stats: FileStat[] = [];
  let patch = "";
  for (const change of changes) {
    const sides = await formatter.readSides(change);
    stats.push(toStat(change, sides));
    for (const part of splitTypeChange(change)) {
      const shown = part === change ? sides : await formatter.readSides(part);
      await formatter.checkBudget(shown);
      const content = await formatter.toContent(shown);
      // Ids are abbreviated by tables that may be read by block.
      patch += await resident(() => formatPatchHead(part, content, options));
      patch += await finishInTurns(patchBodyInTurns(content, options), options.budget);
      if (patch.length > options.patchBytesMax) throw overLimit("the patch is too large");
    }
  }
  return { stat: formatDiffStat(stats), patch: patch as ByteText };
}

/**
 * The contents of both sides of a change. `old` and `fresh` are the same array if the blob is
 * unchanged.
 */
interface Sides {
  readonly old: Uint8Array;
  readonly fresh: Uint8Array;
  /** Undefined if either side is binary. */
  readonly diff: LineDiff | undefined;
}

const EMPTY = new Uint8Array(0);

class ChangeFormatter {
  private readonly objects: ObjectReader;
  private readonly options: FormatOptions;

  constructor(objects: ObjectReader, options: FormatOptions) {
    this.objects = objects;
    this.options = options;
  }

  async readSides(change: PathChange): Promise<Sides> {
    const oldEntry = change.kind === "added" ? undefined : change.old;
    const newEntry = change.kind === "deleted" ? undefined : change.new;
    const old = await this.read(oldEntry);
    const fresh = oldEntry?.oid === newEntry?.oid ? old : await this.read(newEntry);
    const isText = !isBinary(old) && !isBinary(fresh);
    return {
      old,
      fresh,
      diff: isText ? await diffLines(old, fresh, this.options.budget) : undefined,
    };
  }

  /** Counts the steps to format a file before they are taken. */
  async checkBudget({ old, fresh, diff }: Sides): Promise<void> {
    const { budget } = this.options;
    if (diff) budget.consume(stepsToFormat(diff), true);
    else if (old !== fresh) budget.consume(stepsToEncode(old, fresh), true);
    if (budget.isExhausted) throw overLimit("the patch takes too much work");
    await budget.pause();
  }

  async toContent({ old, fresh, diff }: Sides): Promise<PatchContent> {
    if (diff) return { kind: "text", diff };
    if (old === fresh) return { kind: "binary" };
    const { compressor, budget } = this.options;
    return { kind: "encoded", text: await formatBinaryPatch(old, fresh, compressor, budget) };
  }

  private async read(entry: PathEntry | undefined): Promise<Uint8Array> {
    if (!entry) return EMPTY;
    if (isSubmoduleMode(entry.mode)) return encodeUtf8(`Subproject commit ${entry.oid}\n`);
    const found = await this.objects.readObject(entry.oid);
    if (!found) throw missing(`blob ${entry.oid}`);
    if (found.content.length > this.options.contentBytesMax) throw overLimit("a file is too large");
    return found.content;
  }
}

function toStat(change: PathChange, { old, fresh, diff }: Sides): FileStat {
  if (diff) return { change, isBinary: false, ...countLines(diff) };
  if (old === fresh) return { change, isBinary: true, added: 0, removed: 0 };
  return { change, isBinary: true, added: fresh.length, removed: old.length };
}
