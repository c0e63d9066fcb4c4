import { malformed } from "../../lib/failure.ts";
import type { ArchiveSource } from "../../lib/archive-source.ts";
import { readTarGz } from "../archives/tar.ts";
import { openZip, type ZipFile } from "../../lib/zip.ts";
import { CORE_METADATA_BYTES_MAX, type CoreMetadata, parseCoreMetadata } from "./core-metadata.ts";
import { fieldOf } from "./core-metadata.ts";
import { type DistributionName, normalizeProjectName, pythonVersionKey } from "./names.ts";

/** The metadata found in a distribution. */
export interface Distribution {
  readonly metadata: CoreMetadata;
  /** The metadata file as it is in the archive. */
  readonly metadataBytes: Uint8Array;
}

/**
 * Reads the metadata of a distribution, and checks it against its name.
 *
 * @param nameKey    The normalized name of the project.
 * @param versionKey The version as versions are compared.
 * @throws Failure `malformed` for an archive that is broken or has no metadata, and for metadata of
 * another project or version; `too_large` beyond what the readers of archives allow.
 */
export async function inspectDistribution(
  source: ArchiveSource,
  name: DistributionName,
  nameKey: string,
  versionKey: string,
): Promise<Distribution> {
  const metadataBytes = await readMetadata(source, name, nameKey, versionKey);
  const metadata = parseCoreMetadata(metadataBytes);
  const isOfVersion =
    normalizeProjectName(fieldOf(metadata, "name")) === nameKey &&
    pythonVersionKey(fieldOf(metadata, "version")) === versionKey;
  if (!isOfVersion) throw malformed("the archive's metadata name another project or version");
  return { metadata, metadataBytes };
}

async function readMetadata(
  source: ArchiveSource,
  { filetype, format }: DistributionName,
  nameKey: string,
  versionKey: string,
): Promise<Uint8Array> {
  if (format === "tar.gz") return readTarMetadata(source);
  const files = await openZip(source, {
    isRead: (path) => /(?:^|\/)(?:METADATA|PKG-INFO)$/.test(path),
  });
  return filetype === "bdist_wheel"
    ? readWheelMetadata(files, nameKey, versionKey)
    : readZipMetadata(files);
}

/** @see "Binary distribution format" (PEP 427), "The .dist-info directory". */
async function readWheelMetadata(
  files: readonly ZipFile[],
  nameKey: string,
  versionKey: string,
): Promise<Uint8Array> {
  const folders = new Set(
    files.flatMap(({ path }) => /^([^/]+\.dist-info)\//.exec(path)?.[1] ?? []),
  );
  const [folder = "", ...others] = folders;
  const [, name = "", version = ""] = /^([^-]+)-([^-]+)\.dist-info$/.exec(folder) ?? [];
  const isGood =
    others.length === 0 &&
    normalizeProjectName(name) === nameKey &&
    (pythonVersionKey(version) === versionKey || version.includes("_"));
  if (!isGood) throw malformed("the wheel does not have one .dist-info folder of its name");
  const fileOf = (file: string): ZipFile => {
    const found = files.find(({ path }) => path === `${folder}/${file}`);
    if (!found) throw malformed(`the wheel has no ${file}`);
    return found;
  };
  fileOf("WHEEL");
  fileOf("RECORD");
  return fileOf("METADATA").read(CORE_METADATA_BYTES_MAX);
}

async function readZipMetadata(files: readonly ZipFile[]): Promise<Uint8Array> {
  requireOneFolder(files.map(({ path }) => path));
  const found = files.find(({ path }) => /^[^/]+\/PKG-INFO$/.test(path));
  if (!found) throw malformed("the source distribution has no PKG-INFO");
  return found.read(CORE_METADATA_BYTES_MAX);
}

/** @see "Source distribution archive features" (PEP 721): links stay within the archive. */
async function readTarMetadata(source: ArchiveSource): Promise<Uint8Array> {
  let metadata: Uint8Array | undefined;
  let top: string | undefined;
  for await (const entry of readTarGz(source, { hasLinks: true })) {
    const [folder] = entry.path.split("/");
    top ??= folder;
    requireOneFolder([entry.path, `${top}/`]);
    if (entry.linkTarget !== "") requireInnerLink(entry.path, entry.type, entry.linkTarget);
    if (entry.type === "file" && entry.path === `${top}/PKG-INFO`) {
      metadata ??= await entry.read(CORE_METADATA_BYTES_MAX);
    }
  }
  if (!metadata) throw malformed("the source distribution has no PKG-INFO");
  return metadata;
}

function requireOneFolder(paths: readonly string[]): void {
  const folders = new Set(paths.map((path) => path.split("/")[0]));
  if (folders.size > 1) throw malformed("the source distribution has more than one folder");
}

/** SECURITY: a link out of the archive would let later entries be written elsewhere. */
function requireInnerLink(path: string, type: string, target: string): void {
  // A hard link is relative to the archive, a symbolic one to the folder it lies in.
  const steps = type === "link" ? [] : path.split("/").slice(0, -1);
  for (const step of target.split("/")) {
    if (step === "..") {
      if (steps.length <= 1) throw malformed("the source distribution has a link that leaves it");
      steps.pop();
    } else if (step !== "" && step !== ".") {
      steps.push(step);
    }
  }
  if (/^[/\\]|^[a-zA-Z]:/.test(target)) {
    throw malformed("the source distribution has a link that leaves it");
  }
}
