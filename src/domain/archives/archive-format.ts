import { malformed } from "../../lib/failure.ts";

/** As what a commit may be had in one file; the name is how the file's ends. */
export type ArchiveFormat = "tar.gz" | "zip" | "bundle";

const FORMATS: readonly ArchiveFormat[] = ["tar.gz", "zip", "bundle"];

/** What a browser is told of a file. */
export const MEDIA_TYPES: Readonly<Record<ArchiveFormat, string>> = {
  "tar.gz": "application/gzip",
  zip: "application/zip",
  bundle: "application/x-git-bundle",
};

/**
 * Reads `main.tar.gz`: what is wanted, and as what.
 *
 * @throws Failure `malformed` for any other ending.
 */
export function parseArchiveName(name: string): { ref: string; format: ArchiveFormat } {
  const format = FORMATS.find((each) => name.endsWith(`.${each}`));
  if (!format) throw malformed(`unknown format: ${name}`);
  return { ref: name.slice(0, -format.length - 1), format };
}
