import { decodeText } from "../../../git/byte-text.ts";
import { isBinary } from "../../../git/diff/line-diff.ts";
import type { PathEntry } from "../../../git/diff/tree-diff.ts";
import { GitError } from "../../../git/error.ts";
import { isRegularMode } from "../../../git/object/tree.ts";
import { resident } from "../../../git/catalog/block-pool.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import type { Revision } from "../git/find-revision.ts";
import { walkFiles } from "./walk-files.ts";

/** Maximum size of a file that is searched, in bytes. */
const FILE_BYTES_MAX = 1024 * 1024;

/** Files with hits of one result, and lines that are shown of each. */
const FOUND_MAX = 50;
const LINES_MAX = 5;

/** Characters of a line that are shown, and of them those before the hit. */
const LINE_CHARS_MAX = 240;
const CHARS_BEFORE = 80;

/** Steps for a file, and to decode, fold and search a byte of it. */
const STEPS_PER_FILE = 300;
const STEPS_PER_BYTE = 1.5;

/** A line that has the text. */
interface MatchingLine {
  /** Counted from 1. */
  readonly number: number;
  /** The line, or the part of it around the hit. */
  readonly text: string;
}

/** A file that has the text. */
export interface MatchingFile {
  readonly path: string;
  /** The first few lines with the text. */
  readonly lines: readonly MatchingLine[];
  /** How many lines have it. */
  readonly lineCount: number;
}

/** The files that have a text, of those that were searched. */
export interface FileSearch {
  readonly files: readonly MatchingFile[];
  readonly searchedCount: number;
  /** Files that are larger than what is searched. */
  readonly largeCount: number;
  /** The file after which a search goes on; undefined once all files were searched. */
  readonly next: string | undefined;
}

/**
 * Searches the text files of a commit for a text, in the order of its tree, without regard to case.
 *
 * Cost: a read per directory and per file of up to 1 MB, within the budget of a result, which is
 * cached by the tree.
 *
 * @param after The path after which the search begins; "" for the start.
 */
export async function searchFiles(
  repository: OpenRepository,
  { node }: Revision,
  text: string,
  after: string,
): Promise<FileSearch> {
  const { catalog, graph, results } = repository;
  const root = await graph.loadRoot(node);
  const nothing: FileSearch = { files: [], searchedCount: 0, largeCount: 0, next: undefined };
  if (!root) return nothing;
  const treeOid = await resident(() => catalog.oid(root));
  const query = text.toLowerCase();
  return results.getOrCompute(["search", treeOid, query, after], async (budget) => {
    const objects = repository.objects.within(budget);
    const files: MatchingFile[] = [];
    let [searchedCount, largeCount, last] = [0, 0, after];
    let isBefore = after !== "";
    const search = async ({ path, oid, mode }: PathEntry): Promise<void> => {
      const sizeBytes = isRegularMode(mode) ? (await catalog.findSized(oid))?.sizeBytes : undefined;
      if (sizeBytes === undefined) return;
      if (sizeBytes > FILE_BYTES_MAX) {
        largeCount++;
        return;
      }
      const content = (await objects.readObject(oid))?.content;
      if (!content || isBinary(content)) return;
      budget.consume(STEPS_PER_BYTE * content.length);
      searchedCount++;
      const found = searchText(new TextDecoder().decode(content), query);
      if (found) files.push({ ...found, path: decodeText(path) });
    };
    try {
      for await (const file of walkFiles({ catalog, objects }, root)) {
        budget.consume(STEPS_PER_FILE);
        const path = decodeText(file.path);
        if (!isBefore) await search(file);
        isBefore &&= path !== after;
        if (!isBefore) last = path;
        if (files.length === FOUND_MAX) return { files, searchedCount, largeCount, next: last };
      }
    } catch (error) {
      if (!(error instanceof GitError) || error.code !== "limit") throw error;
      return { files, searchedCount, largeCount, next: last };
    }
    return { files, searchedCount, largeCount, next: undefined };
  });
}

/** @param query In lower case. */
function searchText(text: string, query: string): Omit<MatchingFile, "path"> | undefined {
  const folded = text.toLowerCase();
  if (!folded.includes(query)) return undefined;
  const originals = text.split("\n");
  const lines: MatchingLine[] = [];
  let lineCount = 0;
  for (const [at, line] of folded.split("\n").entries()) {
    const hit = line.indexOf(query);
    if (hit < 0) continue;
    lineCount++;
    if (lines.length === LINES_MAX) continue;
    const start = line.length <= LINE_CHARS_MAX ? 0 : Math.max(0, hit - CHARS_BEFORE);
    const shown = (originals[at] ?? "").slice(start, start + LINE_CHARS_MAX);
    lines.push({ number: at + 1, text: shown.toWellFormed() });
  }
  return lineCount === 0 ? undefined : { lines, lineCount };
}
