import type { Ctx } from "../../context.ts";
import type { Publication } from "../../domain/packages/package/publish-version.ts";
import { malformed } from "../../lib/failure.ts";
import { formatHex } from "../../lib/hex.ts";
import { sourceOfBlob } from "../archives/blob-source.ts";
import { fieldOf, isStatic } from "./core-metadata.ts";
import { inspectDistribution } from "./inspect-distribution.ts";
import {
  isProjectName,
  normalizeProjectName,
  requireDistributionName,
  requirePythonVersion,
} from "./names.ts";
import { toVersionMetadata } from "./project-document.ts";
import { CORE_METADATA, type FileMetadata } from "./project-files.ts";
import type { UploadedDistribution } from "./read-upload-form.ts";
import { formatPythonVersion, keyOfPythonVersion } from "./versions.ts";

/**
 * Checks the fields of an upload against its file, whose metadata count: the form only
 * repeats them.
 *
 * @throws Failure `malformed` for names, versions and types that are none or differ, and as
 *   `inspectDistribution`.
 */
export async function checkUpload(ctx: Ctx, upload: UploadedDistribution): Promise<Publication> {
  const { fields, filename, blob } = upload;
  if ((fields.get(":action") ?? "file_upload") !== "file_upload") {
    throw malformed("the action of the form is not file_upload");
  }
  const name = fields.get("name")?.trim() ?? "";
  if (!isProjectName(name)) throw malformed("invalid name or version");
  const nameKey = normalizeProjectName(name);
  const version = requirePythonVersion(fields.get("version") ?? "");
  const versionKey = keyOfPythonVersion(version);
  const distribution = requireDistributionName(filename, nameKey, version);
  const { filetype, pythonVersion } = distribution;
  if ((fields.get("filetype") ?? filetype) !== filetype) {
    throw malformed("the file is of another type than the form says");
  }
  const source = sourceOfBlob(ctx, blob);
  const found = await inspectDistribution(source, distribution, nameKey, versionKey);
  const { metadata, metadataBytes } = found;
  const areReliable = filetype === "bdist_wheel" || isStatic(metadata);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", metadataBytes.slice()));
  const ofFile: FileMetadata = {
    filetype,
    pythonVersion,
    requiresPython: fieldOf(metadata, "requires-python"),
    coreMetadataSha256: areReliable ? formatHex(digest) : "",
  };
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(metadataBytes);
  return {
    type: "pypi",
    // As Gitea shows it.
    name: name.replaceAll(/[-_.]+/g, "-"),
    nameKey,
    version: formatPythonVersion(version),
    versionKey,
    metadata: toVersionMetadata(metadata),
    files: [
      {
        blob,
        name: filename,
        isLead: true,
        metadata: ofFile,
        ...(areReliable && { properties: { [CORE_METADATA]: text } }),
      },
    ],
    ifVersionExists: "add",
  };
}
