import { malformed } from "../../../lib/failure.ts";

/** An archive format, named by its file extension. */
export type ArchiveFormat = "tar.gz" | "zip" | "bundle";

const FORMATS: readonly ArchiveFormat[] = ["tar.gz", "zip", "bundle"];

export const MEDIA_TYPES: Readonly<Record<ArchiveFormat, string>> = {
  "tar.gz": "application/gzip",
  zip: "application/zip",
  bundle: "application/x-git-bundle",
};

/**
 * Splits a name like `main.tar.gz` into ref and format.
 *
 * @throws Failure `malformed` for an unknown extension.
 */
export function parseArchiveName(name: string): { ref: string; format: ArchiveFormat } {
  const format = FORMATS.find((each) => name.endsWith(`.${each}`));
  if (!format) throw malformed(`unknown format: ${name}`);
  return { ref: name.slice(0, -format.length - 1), format };
}
