import { malformed, tooLarge } from "../../lib/failure.ts";
import type { ArchiveSource } from "../../lib/archive-source.ts";
import { pause } from "../../lib/time-slice.ts";
import { openZip, type ZipFile } from "../../lib/zip.ts";
import { isModuleFilePath, isModulePath, isModuleVersion } from "./modules.ts";

/** Maximum bytes of all files together, as the go command allows. */
const UNPACKED_BYTES_MAX = 500 * 1024 * 1024;
/**
 * Maximum bytes of a go.mod, which the registry keeps with the version. The go command allows 16
 * MiB.
 */
const GO_MOD_BYTES_MAX = 512 * 1024;
/** Maximum bytes of a license, as the go command allows. */
const LICENSE_BYTES_MAX = 16 * 1024 * 1024;

/** Maximum number of files and folders: each is held in memory for the comparison. */
const PATHS_MAX = 200_000;

/** Steps to check the path of a file or a folder, and to read a line of a go.mod. */
const PATH_STEPS = 300;
const LINE_STEPS = 50;

/** A version of a module, as its archive names it. */
export interface GoModule {
  readonly path: string;
  readonly version: string;
  /** Its go.mod; one that names the module alone, if it has none. */
  readonly goMod: string;
}

/**
 * Reads which module an archive is of, and checks it as the go command does before it unpacks one.
 *
 * @throws Failure `malformed` for an archive that is none of a module; `too_large`; also as
 *   `openZip`.
 * @see golang.org/x/mod/zip, `CheckZip`.
 */
export async function inspectModule(source: ArchiveSource): Promise<GoModule> {
  const folders: string[] = [];
  const files = await openZip(source, {
    isRead: (path) => path.endsWith("/go.mod"),
    unpackedBytesMax: UNPACKED_BYTES_MAX,
    onFolder: (folder) => folders.push(folder),
  });
  const [, path = "", version = ""] = /^([^@]+)@([^/@]+)\//.exec(files[0]?.path ?? "") ?? [];
  if (!isModulePath(path) || !isModuleVersion(path, version)) {
    throw malformed(
      "the archive's files are not in a folder module@version of a canonical version",
    );
  }
  const prefix = `${path}@${version}/`;
  await requireModulePaths([...folders, ...files.map((each) => each.path)], prefix);
  requireModuleFiles(files, prefix);
  const file = files.find((each) => each.path === `${prefix}go.mod`);
  if (!file) return { path, version, goMod: `module ${path}\n` };
  if (version.endsWith("+incompatible")) {
    throw malformed("a version with +incompatible has no go.mod");
  }
  const goMod = decode(await file.read(GO_MOD_BYTES_MAX));
  if ((await readModuleDirective(goMod)) !== path) {
    throw malformed("the module's go.mod names another module");
  }
  return { path, version, goMod };
}

/**
 * Refuses paths with which the go command does not unpack an archive, in its words.
 *
 * @param paths Those of folders end in a slash.
 */
async function requireModulePaths(paths: readonly string[], prefix: string): Promise<void> {
  const seen = new Map<string, string>();
  for (const path of paths) {
    const pausing = pause(PATH_STEPS);
    if (pausing) await pausing;
    if (!path.startsWith(prefix)) {
      throw malformed(`zip for ${prefix.slice(0, -1)} has unexpected file ${path}`);
    }
    const inner = path.slice(prefix.length);
    if (inner === "") continue;
    const bare = inner.replace(/\/$/, "");
    if (!isModuleFilePath(bare)) throw malformed(`malformed file path ${quoted(bare)}`);
    const pausingParents = pause(noteModulePath(seen, bare, bare !== inner) * PATH_STEPS);
    if (pausingParents) await pausingParents;
    if (seen.size > PATHS_MAX) {
      throw tooLarge(`the archive has more than ${PATHS_MAX} files and folders`);
    }
  }
}

/**
 * Notes a path with the folders that it is in, unless some systems have one file for it and another
 * one.
 *
 * @param seen The paths by their folded form; those of folders end in a slash.
 * @returns How many paths were compared.
 * @throws Failure `malformed`
 */
function noteModulePath(seen: Map<string, string>, path: string, isFolder: boolean): number {
  const folded = path.toLowerCase();
  const other = seen.get(folded);
  const noted = isFolder ? `${path}/` : path;
  if (other === undefined) {
    seen.set(folded, noted);
    const end = path.lastIndexOf("/");
    return end === -1 ? 1 : 1 + noteModulePath(seen, path.slice(0, end), true);
  }
  const bare = other.replace(/\/$/, "");
  if (bare !== path) {
    throw malformed(`case-insensitive file name collision: ${quoted(bare)} and ${quoted(path)}`);
  }
  if (other !== noted) throw malformed(`entry ${quoted(path)} is both a file and a directory`);
  if (!isFolder) throw malformed(`multiple entries for file ${quoted(path)}`);
  return 1;
}

const quoted = (path: string): string => JSON.stringify(path);

function requireModuleFiles(files: readonly ZipFile[], prefix: string): void {
  for (const { path, sizeBytes } of files) {
    const inner = path.slice(prefix.length);
    if (inner !== "go.mod" && /(?:^|\/)go\.mod$/i.test(inner)) {
      throw malformed("the archive has a go.mod of another module");
    }
    if (inner === "LICENSE" && sizeBytes > LICENSE_BYTES_MAX) {
      throw malformed("the archive has a LICENSE that is too large");
    }
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw malformed("the module's go.mod is not encoded in UTF-8");
  }
}

/**
 * The module that a go.mod names, in a line or in a block.
 *
 * @returns "" if it names none.
 * @see "Go Modules Reference", "module directive".
 */
async function readModuleDirective(goMod: string): Promise<string> {
  let isInBlock = false;
  for (const line of goMod.split("\n")) {
    const pausing = pause(LINE_STEPS);
    if (pausing) await pausing;
    const [code = ""] = line.split("//");
    const [first = "", second = ""] = code.trim().split(/[ \t\r]+/);
    if (isInBlock) return unquote(first);
    if (first !== "module" && first !== "module(") continue;
    if (first === "module(" || second === "(") isInBlock = true;
    else return unquote(second);
  }
  return "";
}

const unquote = (text: string): string => /^(["`])(.*)\1$/.exec(text)?.[2] ?? text;
