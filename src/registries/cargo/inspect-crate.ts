import { parse } from "smol-toml";
import { z } from "zod";

import { malformed } from "../../lib/failure.ts";
import type { ArchiveSource } from "../../lib/archive-source.ts";
import { readTarGz } from "../archives/tar.ts";

/** Maximum bytes of a manifest, which is parsed at once: in up to 40 ms. */
const MANIFEST_BYTES_MAX = 128 * 1024;

const Manifest = z.object({ package: z.object({ name: z.string(), version: z.string() }) });

/**
 * Checks that a file is a crate: a compressed tar archive with one folder `name-version` and the
 * manifest of that name and version in it.
 *
 * @throws Failure `malformed` and `too_large`, also as `readTarGz`.
 */
export async function requireCrate(
  source: ArchiveSource,
  name: string,
  version: string,
): Promise<void> {
  const folder = `${name}-${version}`;
  let manifest: Uint8Array | undefined;
  for await (const entry of readTarGz(source)) {
    if (entry.path !== folder && !entry.path.startsWith(`${folder}/`)) {
      throw malformed(`the crate has an entry outside of the folder ${folder}`);
    }
    if (entry.type === "file" && entry.path === `${folder}/Cargo.toml`) {
      if (manifest) throw malformed("the crate has more than one manifest");
      manifest = await entry.read(MANIFEST_BYTES_MAX);
    }
  }
  if (!manifest) throw malformed("the crate has no manifest");
  const parsed = parseManifest(manifest);
  if (parsed.name !== name || parsed.version !== version) {
    throw malformed("the crate's manifest names another crate or version");
  }
}

function parseManifest(bytes: Uint8Array): { name: string; version: string } {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return Manifest.parse(parse(text)).package;
  } catch {
    throw malformed("the crate's manifest is not TOML, or has no name and version");
  }
}
