import { abbreviate } from "../../git/abbreviation.ts";
import type { ByteText } from "../../git/byte-text.ts";
import { formatPatch, stepsToFormat } from "../../git/diff/patch.ts";
import { findRenames } from "../../git/diff/renames.ts";
import { splitTypeChange } from "../../git/diff/tree-diff.ts";
import type { Oid } from "../../git/oid.ts";
import { tooLarge } from "../../lib/failure.ts";
import type { OpenRepository } from "../../storage/open-repository.ts";
import { diffSides, findChanges } from "./find-changes.ts";

/** Maximum size of a diff, in bytes. */
const DIFF_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Formats the diff between two trees as `git diff -M` prints it. Binary files and files over 4 MB
 * are only reported as differing. Within the budget of a result, a file whose comparison takes too much is shown as
 * replaced whole (`dissimilarity index 100%`), and the files for which nothing is left are only reported as differing.
 *
 * The result is cached, with the abbreviated ids that were unique when it was formatted.
 *
 * @param oldTreeOid Undefined for the empty tree.
 * @throws Failure `too_large` for more than 3000 changed files or 16 MB of text.
 */
export function formatDiff(
  { results, catalog, objects }: OpenRepository,
  oldTreeOid: Oid | undefined,
  newTreeOid: Oid,
): Promise<Uint8Array> {
  return results.getOrComputeText(["diff", oldTreeOid ?? null, newTreeOid], async (budget) => {
    const counted = objects.within(budget);
    const found = await findChanges(counted, oldTreeOid, newTreeOid);
    if (!found) throw tooLarge("the commit changes too many files");
    let text = "";
    for (const change of (await findRenames(counted, found, budget)).flatMap(splitTypeChange)) {
      const diff = await diffSides(counted, change, budget);
      if (diff) budget.consume(stepsToFormat(diff));
      const isShown = diff && !budget.isExhausted;
      text += formatPatch(change, isShown ? { kind: "text", diff } : { kind: "binary" }, {
        abbreviate: (oid) => abbreviate(catalog, oid),
      });
      if (text.length > DIFF_BYTES_MAX) throw tooLarge("the diff is too large");
      await budget.pause();
    }
    return text as ByteText;
  });
}
