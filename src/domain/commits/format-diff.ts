import { type ByteText, byteTextBytes } from "../../git/byte-text.ts";
import { diffLines } from "../../git/diff/line-diff.ts";
import { formatPatch } from "../../git/diff/patch.ts";
import { findRenames } from "../../git/diff/renames.ts";
import { splitTypeChange } from "../../git/diff/tree-diff.ts";
import type { Oid } from "../../git/oid.ts";
import type { ObjectReader } from "../../git/store.ts";
import { tooLarge } from "../../lib/failure.ts";
import { findChanges, readSides } from "./find-changes.ts";

/** Maximum size of a diff, in bytes. */
const DIFF_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Formats the diff between two trees as `git diff --full-index -M` prints it. Binary files and files over 4 MB
 * are only reported as differing.
 *
 * @param oldTreeOid Undefined for the empty tree.
 * @throws Failure `too_large` for more than 3000 changed files or 16 MB of text.
 */
export async function formatDiff(
  objects: ObjectReader,
  oldTreeOid: Oid | undefined,
  newTreeOid: Oid,
): Promise<Uint8Array> {
  const found = await findChanges(objects, oldTreeOid, newTreeOid);
  if (!found) throw tooLarge("the commit changes too many files");
  let text = "";
  for (const change of (await findRenames(objects, found)).flatMap(splitTypeChange)) {
    const { old, fresh, isText } = await readSides(objects, change);
    text += formatPatch(
      change,
      isText ? { kind: "text", diff: diffLines(old, fresh) } : { kind: "binary" },
    );
    if (text.length > DIFF_BYTES_MAX) throw tooLarge("the diff is too large");
  }
  return byteTextBytes(text as ByteText);
}
