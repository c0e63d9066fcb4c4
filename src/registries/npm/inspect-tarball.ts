import { malformed } from "../../lib/failure.ts";
import { parseJson } from "../../lib/json.ts";
import { readOneFolder } from "../archives/one-folder.ts";
import { streamTarGz } from "../archives/stream-tar-gz.ts";

/** The content of a tarball. */
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
 * Inspects the tarball of a package while it streams by: files in one folder, with a `package.json`
 * directly in it. The folder is `package` for npm, and clients take any.
 *
 * @throws Failure `malformed` and `too_large`, also as `gunzip` and `readTar`.
 */
export async function inspectTarball(archive: AsyncIterable<Uint8Array>): Promise<TarballContent> {
  let fileCount = 0;
  let unpackedBytes = 0;
  let hasShrinkwrap = false;
  let manifest: Record<string, unknown> | undefined;
  for await (const { inside, entry } of readOneFolder(streamTarGz(archive, UNPACKED_BYTES_MAX))) {
    fileCount++;
    unpackedBytes += entry.sizeBytes;
    if (inside === "npm-shrinkwrap.json") hasShrinkwrap = true;
    if (inside !== "package.json") continue;
    if (manifest) throw malformed("the tarball has two files package.json");
    manifest = await parseManifest(await entry.read(PACKAGE_JSON_BYTES_MAX));
  }
  if (!manifest) throw malformed("the tarball has no package.json");
  const { name, version } = manifest;
  return { fileCount, unpackedBytes, hasShrinkwrap, name, version };
}

async function parseManifest(bytes: Uint8Array): Promise<Record<string, unknown>> {
  try {
    // Ignores a byte order mark, as npm does.
    const value = await parseJson(new TextDecoder().decode(bytes));
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw malformed("the package.json in the tarball is not a JSON object");
}
