import { malformed, tooLarge } from "../../lib/failure.ts";
import type { ArchiveSource } from "../../lib/archive-source.ts";
import { openZip, type ZipFile } from "../../lib/zip.ts";
import { type Nuspec, parseNuspec } from "./parse-nuspec.ts";
import { readSymbolsId } from "./portable-pdb.ts";

const MANIFEST_BYTES_MAX = 1024 * 1024;
/** Maximum bytes of the symbols of one assembly. */
const SYMBOLS_BYTES_MAX = 32 * 1024 * 1024;
/** Maximum number of assemblies with symbols in a package. */
const SYMBOLS_MAX = 50;

/** A package's manifest, and its bytes. */
export interface NugetPackage {
  readonly nuspec: Nuspec;
  readonly manifest: Uint8Array;
  readonly files: readonly ZipFile[];
}

/** The symbols of an assembly, in a portable PDB. */
export interface SymbolsFile {
  /** The name of the file, without folders. */
  readonly name: string;
  /** The id that debuggers ask for, in lower-case hex. */
  readonly id: string;
  readonly bytes: Uint8Array;
}

/**
 * Opens a package: a zip archive with a manifest `*.nuspec` at its root.
 *
 * @throws Failure `malformed` for what is no package; `too_large` for a too large manifest.
 */
export async function parseNupkg(source: ArchiveSource): Promise<NugetPackage> {
  const files = await openZip(source, { isRead: (path) => /\.(?:nuspec|pdb)$/i.test(path) });
  const manifests = files.filter(({ path }) => /^[^/]+\.nuspec$/i.test(path));
  const [file] = manifests;
  if (!file || manifests.length > 1) {
    throw malformed("a package has exactly one manifest *.nuspec at the root of its archive");
  }
  const manifest = await file.read(MANIFEST_BYTES_MAX);
  return { nuspec: await parseNuspec(manifest), manifest, files };
}

/**
 * Reads the symbols of a package of symbols, one file after the other.
 *
 * @throws Failure `malformed` where a `.pdb` is no portable PDB, and for a package that has none;
 *   `too_large`.
 */
export async function* readSymbols({ nuspec, files }: NugetPackage): AsyncGenerator<SymbolsFile> {
  if (!nuspec.metadata.packageTypes.some((type) => type.toLowerCase() === "symbolspackage")) {
    throw malformed("the package is not of the type SymbolsPackage");
  }
  const symbols = files.filter(({ path }) => /\.pdb$/i.test(path));
  if (symbols.length === 0) throw malformed("the package has no symbols");
  if (symbols.length > SYMBOLS_MAX) {
    throw tooLarge(`the package has the symbols of more than ${SYMBOLS_MAX} assemblies`);
  }
  for (const file of symbols) {
    const bytes = await file.read(SYMBOLS_BYTES_MAX);
    const id = readSymbolsId(bytes);
    if (id === undefined) throw malformed(`${file.path} is no portable PDB`);
    yield { name: file.path.replace(/^.*\//, ""), id, bytes };
  }
}
