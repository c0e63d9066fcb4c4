import { finishInTurns } from "../../../git/budget.ts";
import { abbreviate } from "../../../git/abbreviation.ts";
import type { ByteText } from "../../../git/byte-text.ts";
import { formatBinaryPatch, stepsToEncode } from "../../../git/diff/binary-patch.ts";
import {
  formatPatchHead,
  patchBodyInTurns,
  type PatchContent,
  type PatchOptions,
  stepsToFormat,
} from "../../../git/diff/patch.ts";
import { findRenames } from "../../../git/diff/renames.ts";
import { type PathChange, splitTypeChange } from "../../../git/diff/tree-diff.ts";
import { resident } from "../../../git/catalog/block-pool.ts";
import type { Oid } from "../../../git/oid.ts";
import type { ObjectReader } from "../../../git/store.ts";
import { tooLarge } from "../../../lib/failure.ts";
import type { StepBudget } from "../../../lib/step-budget.ts";
import { compressor } from "../../../storage/compressor.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import type { ResultKey } from "../../../storage/result-cache.ts";
import { diffSides, findChanges, readSides } from "./find-changes.ts";

/** Maximum size of a diff that is formatted before it is sent, in bytes. */
const DIFF_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Whether binary files are only reported as differing, or encoded, so that the diff can be applied.
 */
export type BinaryFiles = "reported" | "encoded";

/**
 * Formats the diff between two trees as `git diff -M` prints it. Binary files and files over 4 MB
 * are only reported as differing. Within the budget of a result, a file whose comparison takes too
 * much is shown as replaced whole (`dissimilarity index 100%`), and the files for which nothing is
 * left are only reported as differing.
 *
 * The result is cached, with the abbreviated ids that were unique when it was formatted.
 *
 * @param oldTreeOid Undefined for the empty tree.
 * @throws Failure `too_large` for more than 3000 changed files or 16 MB of text.
 */
export function formatDiff(
  repository: OpenRepository,
  oldTreeOid: Oid | undefined,
  newTreeOid: Oid,
): Promise<Uint8Array> {
  const key = keyOf(oldTreeOid, newTreeOid, "reported");
  return repository.results.getOrComputeText(key, async (budget) => {
    let text = "";
    for await (const patch of patchesOf(repository, oldTreeOid, newTreeOid, "reported", budget)) {
      text += patch;
      if (text.length > DIFF_BYTES_MAX) throw tooLarge("the diff is too large");
    }
    return text as ByteText;
  });
}

/**
 * The same diff, file by file while it is sent, and of any size.
 *
 * @param binaryFiles If encoded, binary files of up to 4 MB are part of the diff, as
 *   `git diff --binary` prints them.
 * @throws Failure `too_large` for more than 3000 changed files.
 */
export function streamDiff(
  repository: OpenRepository,
  oldTreeOid: Oid | undefined,
  newTreeOid: Oid,
  binaryFiles: BinaryFiles,
): Promise<AsyncGenerator<Uint8Array>> {
  const key = keyOf(oldTreeOid, newTreeOid, binaryFiles);
  return repository.results.streamText(key, (budget) =>
    patchesOf(repository, oldTreeOid, newTreeOid, binaryFiles, budget),
  );
}

const keyOf = (
  oldTreeOid: Oid | undefined,
  newTreeOid: Oid,
  binaryFiles: BinaryFiles,
): ResultKey => [
  "diff",
  oldTreeOid ?? null,
  newTreeOid,
  ...(binaryFiles === "encoded" ? [binaryFiles] : []),
];

async function* patchesOf(
  { catalog, objects }: OpenRepository,
  oldTreeOid: Oid | undefined,
  newTreeOid: Oid,
  binaryFiles: BinaryFiles,
  budget: StepBudget,
): AsyncGenerator<ByteText> {
  const counted = objects.within(budget);
  const found = await findChanges(counted, oldTreeOid, newTreeOid);
  if (!found) throw tooLarge("too many files differ");
  for (const change of (await findRenames(counted, found, budget)).flatMap(splitTypeChange)) {
    const content = await contentOf(counted, change, binaryFiles, budget);
    const options: PatchOptions = { abbreviate: (oid) => abbreviate(catalog, oid) };
    const head = await resident(() => formatPatchHead(change, content, options));
    const body = await finishInTurns(patchBodyInTurns(content, options), budget);
    yield `${head}${body}` as ByteText;
    await budget.pause();
  }
}

async function contentOf(
  objects: ObjectReader,
  change: PathChange,
  binaryFiles: BinaryFiles,
  budget: StepBudget,
): Promise<PatchContent> {
  const diff = await diffSides(objects, change, budget);
  if (diff) budget.consume(stepsToFormat(diff), true);
  if (budget.isExhausted) return { kind: "binary" };
  if (diff) return { kind: "text", diff };
  const sides = binaryFiles === "encoded" ? await readSides(objects, change) : undefined;
  if (!sides) return { kind: "binary" };
  budget.consume(stepsToEncode(sides.old, sides.fresh), true);
  if (budget.isExhausted) return { kind: "binary" };
  return {
    kind: "encoded",
    text: await formatBinaryPatch(sides.old, sides.fresh, compressor, budget),
  };
}
