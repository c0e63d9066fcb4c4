import type { Ctx } from "../context.ts";
import { countPackageDownload } from "../domain/packages/package/count-download.ts";
import type { FileOfVersion } from "../domain/packages/package/find-file.ts";
import { formatFilename } from "../lib/header-value.ts";
import { answerStoredFile } from "../lib/stored-file.ts";
import type { RegistryContext } from "./env.ts";
import { fileDateOf } from "./file-date.ts";

/** How a file is sent, where it is not as usual. */
interface FileForm {
  readonly type?: string;
  /** The entity tag, without quotes; the SHA-256 by default. */
  readonly tag?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Streams a file of a package, or a range of it, and counts the download unless it is a later part.
 */
export function answerFile(
  c: RegistryContext,
  ctx: Ctx,
  { file, blob, version }: FileOfVersion,
  { type = "application/octet-stream", tag = blob.sha256, headers = {} }: FileForm = {},
): Promise<Response> {
  return answerStoredFile(c.req.raw, {
    sizeBytes: blob.sizeBytes,
    tag,
    modifiedAt: fileDateOf(file.createdAt, ctx.now),
    headers: {
      "Content-Type": type,
      "Content-Disposition": `attachment; ${formatFilename(file.name)}`,
      // Kept, but shown again only after another look at what the reader may see.
      "Cache-Control": "private, no-cache",
      ...headers,
    },
    open: (range) => {
      if (range.start === 0) countPackageDownload(ctx, version.id);
      return ctx.git.packageFiles.openCached(blob, range);
    },
  });
}
