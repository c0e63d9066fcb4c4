import { malformed } from "../../lib/failure.ts";
import { splitPiece } from "../archives/archive-source.ts";
import { gunzip } from "../archives/gunzip.ts";
import { readTar } from "../archives/tar.ts";

/** What a tarball holds. */
export interface TarballContent {
  readonly fileCount: number;
  readonly unpackedBytes: number;
  readonly hasShrinkwrap: boolean;
  /** As its `package.json` spells them. */
  readonly name: unknown;
  readonly version: unknown;
}

/** Maximum bytes of a package after decompression: the largest ones of npm have some 500 MB. */
const UNPACKED_BYTES_MAX = 1024 * 1024 * 1024;
const PACKAGE_JSON_BYTES_MAX = 1024 * 1024;

/**
 * Inspects the tarball of a package while it streams by: files in one folder, with a `package.json` directly in it. The
 * folder is `package` for npm, and clients take any.
 *
 * @throws Failure `malformed` and `too_large`, also as `gunzip` and `readTar`.
 */
export async function inspectTarball(archive: AsyncIterable<Uint8Array>): Promise<TarballContent> {
  let fileCount = 0;
  let unpackedBytes = 0;
  let root: string | undefined;
  let hasShrinkwrap = false;
  let manifest: Record<string, unknown> | undefined;
  for await (const entry of unpack(archive)) {
    const { path, type, sizeBytes } = entry;
    if (type === "directory") continue;
    fileCount++;
    unpackedBytes += sizeBytes;
    const [folder = "", ...rest] = path.split("/");
    root ??= folder;
    if (folder !== root || rest.length === 0) {
      throw malformed("the files of the tarball are not all in one folder");
    }
    const inside = rest.join("/");
    if (inside === "npm-shrinkwrap.json") hasShrinkwrap = true;
    if (inside !== "package.json") continue;
    if (manifest) throw malformed("the tarball has two files package.json");
    manifest = parseManifest(await entry.read(PACKAGE_JSON_BYTES_MAX));
  }
  if (!manifest) throw malformed("the tarball has no package.json");
  const { name, version } = manifest;
  return { fileCount, unpackedBytes, hasShrinkwrap, name, version };
}

const unpack = (archive: AsyncIterable<Uint8Array>) =>
  readTar(gunzip(splitPieces(archive), UNPACKED_BYTES_MAX));

async function* splitPieces(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield* splitPiece(piece);
}

function parseManifest(bytes: Uint8Array): Record<string, unknown> {
  try {
    // Ignores a byte order mark, as npm does.
    const value = JSON.parse(new TextDecoder().decode(bytes)) as unknown;
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw malformed("the package.json in the tarball is not a JSON object");
}
