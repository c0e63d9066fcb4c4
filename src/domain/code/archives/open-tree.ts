import type { Ctx } from "../../../context.ts";
import { abbreviationDigits, countReached } from "../../../git/abbreviation.ts";
import { listEntries } from "../../../git/archive/list-entries.ts";
import { measureTree, type TreeMeasure } from "../../../git/archive/measure-tree.ts";
import { readEntries } from "../../../git/archive/read-entries.ts";
import { formatTar } from "../../../git/archive/tar.ts";
import { formatZip } from "../../../git/archive/zip.ts";
import type { Budget } from "../../../git/budget.ts";
import { type ByteText, encodeText } from "../../../git/byte-text.ts";
import { GitError, missing } from "../../../git/error.ts";
import { parseCommit } from "../../../git/object/commit.ts";
import { toUtf8 } from "../../../git/object/reencode.ts";
import type { ObjectLocation } from "../../../git/catalog/pack-catalog.ts";
import { piecesToDeflate } from "../../../git/zlib/deflate-in-pieces.ts";
import { tooLarge } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { codec } from "../../../storage/codec.ts";
import { compressor } from "../../../storage/compressor.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { RESULT_STEPS_MAX } from "../../../storage/result-cache.ts";
import { streamBlob } from "../contents/stream-blob.ts";
import type { Revision } from "../git/find-revision.ts";
import type { RepositorySnapshot } from "../git/open-snapshot.ts";
import type { ArchiveFormat } from "./archive-format.ts";

/** Maximum entries of an archive. */
const ENTRIES_MAX = 500_000;
/** Maximum total size of all files, in bytes before compression. */
const CONTENT_BYTES_MAX = 8 * 1024 ** 3;
/** Maximum bytes of a path: no common system supports a longer one. */
const PATH_BYTES_MAX = 4096;
/** Steps to match the attributes of an entry, beside `RESULT_STEPS_MAX` for the whole tree. */
const ENTRY_STEPS = 1000;

/**
 * Opens the tree of a commit as a tar or zip file, with the repository name as top folder.
 *
 * Cost: reads each tree once before the first byte and once more while streaming; file contents are
 * read some MB ahead.
 *
 * @param decorations The refs that point at the commit.
 * @returns A stream that fails where `.gitattributes` takes too much work to match.
 * @throws Failure `too_large` for more than 500,000 entries, 8 GB, or a path of more than 4096
 *   bytes.
 */
export async function openTree(
  ctx: Ctx,
  { row }: RepositoryContext,
  { repository }: RepositorySnapshot,
  { node, commitOid }: Revision,
  format: Exclude<ArchiveFormat, "bundle">,
  decorations: readonly ByteText[],
): Promise<AsyncGenerator<Uint8Array>> {
  const { catalog, graph, objects } = repository;
  const commit = toUtf8(parseCommit(await objects.readAt(graph.location(node))));
  const root = graph.root(node);
  if (!root) throw missing(`tree ${commit.treeOid}`);
  const measured = await measure(repository, root);
  refuseLarge(measured);
  // A small tree can have rules that take hours to match; a large one needs some work for each of
  // its entries.
  const matching = ctx.git.openBudget(RESULT_STEPS_MAX + ENTRY_STEPS * measured.entryCount);

  let digits = 0;
  const entries = readEntries(catalog, objects, listEntries(catalog, objects, root, matching), {
    prefix: `${encodeText(row.lowerName)}/` as ByteText,
    commit: {
      oid: commitOid,
      commit,
      decorations,
      // Computed from this commit's history alone, so that pushes to other branches do not change
      // the file.
      abbreviate: (oid) => {
        digits ||= abbreviationDigits(countReached(graph, node));
        return oid.slice(0, digits);
      },
    },
    stream: (location) => streamBlob(ctx, row, repository, location),
    codec,
    gauge: ctx.git.usage.gauge(),
  });
  const head = { commitOid, timeSeconds: commit.committer.timeSeconds };
  const { budget } = objects;
  return format === "zip"
    ? formatZip(head, entries, compressor, budget)
    : compress(formatTar(head, entries, budget), budget);
}

async function measure(
  { catalog, objects }: OpenRepository,
  root: ObjectLocation,
): Promise<TreeMeasure> {
  try {
    return await measureTree(catalog, objects, root);
  } catch (error) {
    if (error instanceof GitError && error.code === "limit") throw tooLarge(TOO_LARGE);
    throw error;
  }
}

const TOO_LARGE = "the tree is too large for an archive";

function refuseLarge({ entryCount, contentBytes, pathBytes }: TreeMeasure): void {
  if (entryCount > ENTRIES_MAX || contentBytes > CONTENT_BYTES_MAX || pathBytes > PATH_BYTES_MAX) {
    throw tooLarge(TOO_LARGE);
  }
}

async function* compress(
  pieces: AsyncGenerator<Uint8Array>,
  budget: Budget,
): AsyncGenerator<Uint8Array> {
  const deflating = compressor.open("gzip");
  try {
    for await (const long of pieces) {
      for await (const piece of piecesToDeflate(long, budget)) yield* await deflating.push(piece);
    }
    yield* await deflating.finish();
  } finally {
    deflating.close();
  }
}
