import { malformed } from "../../lib/failure.ts";
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

/** Steps to check the path of a file, and to read a line of a go.mod. */
const FILE_STEPS = 300;
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
  const files = await openZip(source, {
    isRead: (path) => path.endsWith("/go.mod"),
    unpackedBytesMax: UNPACKED_BYTES_MAX,
  });
  const [, path = "", version = ""] = /^([^@]+)@([^/@]+)\//.exec(files[0]?.path ?? "") ?? [];
  if (!isModulePath(path) || !isModuleVersion(path, version)) {
    throw malformed(
      "the archive's files are not in a folder module@version of a canonical version",
    );
  }
  const prefix = `${path}@${version}/`;
  await requireModuleFiles(files, prefix);
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

async function requireModuleFiles(files: readonly ZipFile[], prefix: string): Promise<void> {
  const seen = new Set<string>();
  for (const { path, sizeBytes } of files) {
    const pausing = pause(FILE_STEPS);
    if (pausing) await pausing;
    if (!path.startsWith(prefix)) throw malformed(`the archive has a file outside of ${prefix}`);
    const inner = path.slice(prefix.length);
    if (!isModuleFilePath(inner))
      throw malformed("the archive has a file with a name that no module has");
    // Some systems have one file for such names.
    const folded = inner.toLowerCase();
    if (seen.has(folded)) throw malformed("the archive has files whose names differ in case alone");
    seen.add(folded);
    if (/(?:^|\/)go\.mod$/.test(folded) && inner !== "go.mod") {
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
