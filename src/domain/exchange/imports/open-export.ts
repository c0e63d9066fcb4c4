import type { Ctx } from "../../../context.ts";
import type { Import, ImportFile } from "../../../db/schema/index.ts";
import { encodeText } from "../../../git/byte-text.ts";
import type { ArchiveSource } from "../../../lib/archive-source.ts";
import { invalid } from "../../../lib/failure.ts";
import { branchRef } from "../../code/branches/find-branch.ts";
import { BundleRepository } from "../exports/bundle-repository.ts";
import { ExportArchive } from "../exports/export-archive.ts";
import { GIT_BUNDLE, WIKI_BUNDLE } from "../exports/export-files.ts";
import { ExportReader } from "../exports/export-reader.ts";
import { keepExportFile } from "./export-file.ts";
import type { ImportSource } from "./import-job.ts";

/** A stored export as the source of its archive. */
export const sourceOfExport = ({ git }: Ctx, { uuid, sizeBytes }: ImportFile): ArchiveSource => ({
  sizeBytes,
  read: (range) => git.attachmentFiles.read(uuid, range),
  open: (range) => git.attachmentFiles.open(uuid, range),
});

/**
 * Opens the export that an import reads, and keeps it from being removed.
 *
 * @throws Failure `invalid` if it is no longer here, or is none.
 */
export async function openExport(ctx: Ctx, { options: { file } }: Import): Promise<ImportSource> {
  if (!file || !(await keepExportFile(ctx, file.uuid))) {
    throw invalid("the export is no longer here: import it anew");
  }
  const archive = await ExportArchive.open(sourceOfExport(ctx, file));
  const { defaultBranch, wikiBranch } = archive.manifest.project;
  const openBundle = (path: string, branch: string) =>
    new BundleRepository(
      archive.has(path) ? () => archive.open(path) ?? noPieces() : undefined,
      encodeText(branchRef(branch)),
    );
  return {
    remote: openBundle(GIT_BUNDLE, defaultBranch),
    ...(wikiBranch !== "" && { wiki: openBundle(WIKI_BUNDLE, wikiBranch) }),
    reader: new ExportReader(archive),
    openFile: (path) => {
      const pieces = archive.open(path);
      return pieces && copied(pieces);
    },
    authorizationFor: () => ({}),
  };
}

/** Pieces whose buffers are their own: a stream that sends them on takes the buffers over. */
async function* copied(pieces: AsyncGenerator<Uint8Array, void>): AsyncGenerator<Uint8Array, void> {
  for await (const piece of pieces) yield piece.slice();
}

async function* noPieces(): AsyncGenerator<Uint8Array, void> {
  // A file that is not there.
}
