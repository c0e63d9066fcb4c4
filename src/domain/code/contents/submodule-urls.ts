import { type ByteText, decodeText, readByteText } from "../../../git/byte-text.ts";
import { parseSettings } from "../../../git/object/parse-settings.ts";
import { isTreeMode } from "../../../git/object/tree.ts";
import type { ObjectLocation } from "../../../git/catalog/pack-catalog.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { findEntry } from "./find-entry.ts";

/** Maximum size of a `.gitmodules` file, in bytes. Larger ones are ignored. */
const GITMODULES_BYTES_MAX = 1024 * 1024;

/** Reads the submodule URLs of a commit from its `.gitmodules`, keyed by path. */
export async function readSubmoduleUrls(
  repository: OpenRepository,
  root: ObjectLocation,
): Promise<Map<string, string>> {
  const urls = new Map<string, string>();
  const entry = await findEntry(repository, root, [".gitmodules"]);
  const { catalog, objects } = repository;
  if (!entry || isTreeMode(entry.mode)) return urls;
  const file = await catalog.findSized(entry.oid);
  if (!file || file.sizeBytes > GITMODULES_BYTES_MAX) return urls;
  const { settings } = parseSettings(readByteText(await objects.readAt(file.location)));
  const named = new Map<string, { path?: string; url?: string }>();
  for (const { section, name, key, value } of settings) {
    if (section !== "submodule" || name === undefined || value === undefined) continue;
    if (key !== "path" && key !== "url") continue;
    named.set(name, { ...named.get(name), [key]: decodeText(value as ByteText) });
  }
  for (const { path, url } of named.values()) {
    if (path !== undefined && url !== undefined) urls.set(path, url);
  }
  return urls;
}
