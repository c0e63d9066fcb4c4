import { decodeText, readByteText } from "../../git/byte-text.ts";
import { isSymlinkMode, isTreeMode, parseTree } from "../../git/object/tree.ts";
import type { ObjectLocation } from "../../git/catalog/pack-catalog.ts";
import type { OpenRepository } from "../../storage/open-repository.ts";
import { listLicenseTexts } from "../templates/licenses.ts";

/** Files that are read, and how large they may be, in bytes. */
const FILES_MAX = 10;
const FILE_BYTES_MAX = 128 * 1024;

/** How alike the words of a file and of a license are at least: 1 for the same. */
const SIMILARITY_MIN = 0.96;

/** Words that a file has and its license has not: in all, or of its own words, whichever is more. */
const ADDED_MAX = 2;
const ADDED_SHARE_MAX = 0.02;

/** `LICENSE`, `LICENCE.md`, `LICENSE-MIT`, `MIT-LICENSE.txt`, `COPYING.LESSER`, `UNLICENSE`. */
const NAME = /^(?:[\w.]+-)?(?:un)?licen[cs]es?(?:[-_.][\w.+-]*)?$|^copying(?:[-_.][\w.+-]*)?$/i;

/**
 * The SPDX ids of the licenses whose texts stand at the root of a tree, in order. A text that is no
 * license of the list, or that was changed, is none.
 *
 * Cost: the root and `FILES_MAX` files of it.
 */
export async function detectLicenses(
  { catalog, objects }: OpenRepository,
  root: ObjectLocation,
): Promise<string[]> {
  const found = new Set<string>();
  const files = parseTree(await objects.readAt(root)).filter(
    ({ mode, name }) => !isTreeMode(mode) && !isSymlinkMode(mode) && NAME.test(name),
  );
  for (const { oid } of files.slice(0, FILES_MAX)) {
    const location = catalog.find(oid);
    if (!location || catalog.sizeBytes(location) > FILE_BYTES_MAX || objects.findLarge(oid))
      continue;
    const id = await recognize(decodeText(readByteText(await objects.readAt(location))));
    if (id !== undefined) found.add(id);
  }
  return [...found].toSorted();
}

type WordSet = ReadonlySet<string>;

let known: { id: string; words: WordSet }[] | undefined;

/** The license of a text, undefined where it is none that is known. */
async function recognize(text: string): Promise<string | undefined> {
  known ??= (await listLicenseTexts()).flatMap(({ id, text: theirs }) => {
    // The lesser license is kept with the general one behind it, or alone.
    const [lesser = ""] = theirs.split(/^\s*GNU GENERAL PUBLIC LICENSE$/m);
    const texts = lesser.trim() === "" ? [theirs] : [theirs, lesser];
    return texts.map((each) => ({ id, words: wordsOf(each) }));
  });
  const words = wordsOf(text);
  let best = { id: "", similarity: 0, added: 0 };
  for (const { id, words: theirs } of known) {
    const common = countCommon(words, theirs);
    const similarity = (2 * common) / Math.max(1, words.size + theirs.size);
    if (similarity > best.similarity) best = { id, similarity, added: words.size - common };
  }
  // A condition that was added to a license makes it another, and takes few words.
  const isAddedTo = best.added > Math.max(ADDED_MAX, words.size * ADDED_SHARE_MAX);
  return best.similarity >= SIMILARITY_MIN && !isAddedTo ? best.id : undefined;
}

/** What is no part of a license: what it is called, who holds the rights, how it is laid out. */
const LEFT_OUT: readonly [pattern: RegExp, rest: string][] = [
  [/end of terms and conditions[^]*$/g, " "],
  [/https?:\/\/|[*_#>|]/g, " "],
  [/[‘’`]/g, "'"],
  [/[“”]/g, '"'],
  [
    /^[ \t]*(?:copyright\b(?!\s+(?:and|holders?|in|interest|laws?|licen[cs]e|notices?|or|owners?|statement|treaty)\b)|©|\(c\)).*$/gm,
    " ",
  ],
  [/^[ \t]*all rights reserved\.?[ \t]*$/gm, " "],
  [/^[^\n]{0,60}licen[cs]e(?:[ \t]*\([^\n()]{1,40}\))?:?[ \t]*$/gm, " "],
  [/\s+/g, " "],
  [/(?<=neither the names? of )[^;]{1,120}?(?=nor )/g, ""],
  [/(?<=provided by )[^"]{1,120}?(?="as is")/g, ""],
  [/(?<=in no event (?:shall|will) )[^.;]{1,120}?(?=be liable)/g, ""],
  [/(?<="as is" and )[^.;]{1,80}?(?=disclaims? all)/g, ""],
];

function wordsOf(text: string): WordSet {
  let plain = text.toLowerCase();
  for (const [pattern, rest] of LEFT_OUT) plain = plain.replaceAll(pattern, rest);
  return new Set(plain.match(/[\p{L}\d][\p{L}\d'.]*(?<!['.])/gu));
}

function countCommon(a: WordSet, b: WordSet): number {
  let count = 0;
  for (const word of a) if (b.has(word)) count++;
  return count;
}
