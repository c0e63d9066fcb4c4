import { decodeText, readByteText } from "../../../git/byte-text.ts";
import { isSymlinkMode, isTreeMode, type TreeEntry } from "../../../git/object/tree.ts";
import { matchGlob } from "../../../git/glob/match-glob.ts";
import type { ObjectLocation } from "../../../git/catalog/pack-catalog.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { findEntries } from "../contents/find-entry.ts";
import { type EditorConfig, parseEditorConfig } from "./parse-editorconfig.ts";

/**
 * SECURITY: bounds the matching cost, which is the bytes of all read files times the characters of
 * the path.
 */
const READ_BYTES_MAX = 128 * 1024;
const PATH_CHARS_MAX = 1024;

const NAME = ".editorconfig";

/**
 * Merges the properties for a path from its `.editorconfig` files, from the outermost to the
 * nearest, as editors do. The path need not exist.
 *
 * Cost: one read per directory of the path, and one per `.editorconfig` file.
 *
 * @returns Undefined if no `.editorconfig` file applies.
 */
export async function findDefinition(
  repository: OpenRepository,
  root: ObjectLocation,
  names: readonly string[],
): Promise<Record<string, string> | undefined> {
  if (names.join("/").length > PATH_CHARS_MAX) return undefined;
  const paths = names.map((_, at) => names.slice(0, at).concat(NAME));
  const entries = await findEntries(repository, root, paths);
  const found: { config: EditorConfig; depth: number }[] = [];
  let bytesLeft = READ_BYTES_MAX;
  for (let depth = entries.length - 1; depth >= 0; depth--) {
    const file = await findFile(repository, entries[depth]);
    if (!file) continue;
    bytesLeft -= file.sizeBytes;
    if (bytesLeft < 0) break;
    const text = decodeText(readByteText(await repository.objects.readAt(file.location)));
    const config = parseEditorConfig(text);
    found.unshift({ config, depth });
    if (config.isRoot) break;
  }
  if (found.length === 0) return undefined;
  const definition = new Map<string, string>();
  for (const { config, depth } of found) {
    const path = `/${names.slice(depth).join("/")}`;
    for (const { glob, properties } of config.sections) {
      if (!matchGlob(glob, path)) continue;
      for (const [name, value] of properties) definition.set(name, value);
    }
  }
  complete(definition);
  return Object.fromEntries(definition);
}

async function findFile({ catalog }: OpenRepository, entry: TreeEntry | undefined) {
  const isFile = entry && !isTreeMode(entry.mode) && !isSymlinkMode(entry.mode);
  return isFile ? catalog.findSized(entry.oid) : undefined;
}

/** Adds properties implied by others. */
function complete(definition: Map<string, string>): void {
  if (definition.get("indent_style") === "tab" && !definition.has("indent_size")) {
    definition.set("indent_size", "tab");
  }
  const size = definition.get("indent_size");
  const width = definition.get("tab_width");
  if (size === "tab" && width !== undefined) definition.set("indent_size", width);
  if (size !== undefined && size !== "tab" && width === undefined)
    definition.set("tab_width", size);
}
