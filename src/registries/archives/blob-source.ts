import type { Ctx } from "../../context.ts";
import type { ArchiveSource } from "../../lib/archive-source.ts";

/** Bytes that were received, or that a package has, as the source of an archive. */
export const sourceOfBlob = (
  { git }: Ctx,
  { uuid, sizeBytes }: { readonly uuid: string; readonly sizeBytes: number },
): ArchiveSource => ({
  sizeBytes,
  read: (range) => git.packageFiles.read(uuid, range),
  open: (range) => git.packageFiles.open(uuid, range),
});
