import { malformed } from "../../lib/failure.ts";
import type { TarEntry } from "./tar.ts";

/** A file of an archive whose files are all in one folder. */
export interface FileInFolder {
  /** The path within the folder. */
  readonly inside: string;
  readonly entry: TarEntry;
}

/**
 * Lists the files of an archive that has one folder at its top. @throws Failure `malformed` for any
 * other.
 */
export async function* readOneFolder(
  entries: AsyncIterable<TarEntry>,
): AsyncGenerator<FileInFolder> {
  let root: string | undefined;
  for await (const entry of entries) {
    if (entry.type === "directory") continue;
    const slash = entry.path.indexOf("/");
    const folder = entry.path.slice(0, Math.max(0, slash));
    root ??= folder;
    if (slash < 0 || folder !== root) {
      throw malformed("the files of the archive are not all in one folder");
    }
    yield { inside: entry.path.slice(slash + 1), entry };
  }
}
