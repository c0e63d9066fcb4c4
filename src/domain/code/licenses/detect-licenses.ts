import { decodeText, readByteText } from "../../../git/byte-text.ts";
import { isSymlinkMode, isTreeMode, parseTree } from "../../../git/object/tree.ts";
import type { ObjectLocation } from "../../../git/catalog/pack-catalog.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { listLicenseTexts } from "../templates/licenses.ts";

/** Maximum files read, and maximum bytes per file. */
const FILES_MAX = 10;
const FILE_BYTES_MAX = 128 * 1024;

/** Minimum similarity of the words of a file and of a license: 1 for identical sets. */
const SIMILARITY_MIN = 0.96;

/**
 * Maximum words of a file that its license does not contain: absolute, or as a share, whichever is
 * more.
 */
const ADDED_MAX = 2;
const ADDED_SHARE_MAX = 0.02;

/** `LICENSE`, `LICENCE.md`, `LICENSE-MIT`, `MIT-LICENSE.txt`, `COPYING.LESSER`, `UNLICENSE`. */
const NAME = /^(?:[\w.]+-)?(?:un)?licen[cs]es?(?:[-_.][\w.+-]*)?$|^copying(?:[-_.][\w.+-]*)?$/i;

/**
 * Detects the licenses of the files at the root of a tree, as sorted SPDX ids. Unknown and modified
 * licenses are not detected.
 *
 * Cost: reads the root and up to 10 of its files.
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

let licenses: { id: string; words: WordSet }[] | undefined;

/** Finds the license with the most similar text; undefined if none is similar enough. */
async function recognize(text: string): Promise<string | undefined> {
  licenses ??= (await listLicenseTexts()).flatMap(({ id, text: licenseText }) => {
    // A lesser license appears either alone or followed by the GPL.
    const [lesser = ""] = licenseText.split(/^\s*GNU GENERAL PUBLIC LICENSE$/m);
    const texts = lesser.trim() === "" ? [licenseText] : [licenseText, lesser];
    return texts.map((each) => ({ id, words: wordsOf(each) }));
  });
  const words = wordsOf(text);
  let best = { id: "", similarity: 0, added: 0 };
  for (const { id, words: licenseWords } of licenses) {
    const total = Math.max(1, words.size + licenseWords.size);
    // A text of far more or far fewer words than the license can't be similar, whatever they are.
    if ((2 * Math.min(words.size, licenseWords.size)) / total < SIMILARITY_MIN) continue;
    const common = countCommon(words, licenseWords);
    const similarity = (2 * common) / total;
    if (similarity > best.similarity) best = { id, similarity, added: words.size - common };
  }
  // Few words suffice to add a condition, which makes it another license.
  const isAddedTo = best.added > Math.max(ADDED_MAX, words.size * ADDED_SHARE_MAX);
  return best.similarity >= SIMILARITY_MIN && !isAddedTo ? best.id : undefined;
}

/**
 * Replacements that remove what is not license text: titles, copyright holders, markup and layout.
 */
const NORMALIZATIONS: readonly [pattern: RegExp, replacement: string][] = [
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
  for (const [pattern, replacement] of NORMALIZATIONS) {
    plain = plain.replaceAll(pattern, replacement);
  }
  return new Set(plain.match(/[\p{L}\d][\p{L}\d'.]*(?<!['.])/gu));
}

function countCommon(a: WordSet, b: WordSet): number {
  const [fewer, more] = a.size < b.size ? [a, b] : [b, a];
  let count = 0;
  for (const word of fewer) if (more.has(word)) count++;
  return count;
}
