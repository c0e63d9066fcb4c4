import { findPackage, type PackageOwner } from "../../domain/packages/package/find-package.ts";
import { findVersion } from "../../domain/packages/package/find-version.ts";
import { readFormParts } from "../../domain/issues/attachments/form-file.ts";
import {
  publishVersion,
  type PublishedFile,
} from "../../domain/packages/package/publish-version.ts";
import {
  receiveBlob,
  type ReceivedBlob,
  storeBlob,
  withBlobs,
} from "../../domain/packages/package/receive-blob.ts";
import type { Ctx } from "../../context.ts";
import { malformed, notFound } from "../../lib/failure.ts";
import { sourceOfBlob } from "../archives/blob-source.ts";
import type { RegistryContext } from "../env.ts";
import { readUpload } from "../read-upload.ts";
import { manifestKey, nupkgKey, snupkgKey } from "./names.ts";
import { nugetVersionKey } from "./nuget-version.ts";
import { parseNupkg, readSymbols } from "./parse-nupkg.ts";

/** The property of a file of symbols: the id that debuggers ask for. */
export const SYMBOLS_ID = "nuget.symbols";

/** Publishes the package in a request. */
export async function publishPackage(
  c: RegistryContext,
  ctx: Ctx,
  owner: PackageOwner,
): Promise<void> {
  const blob = await receiveBlob(ctx, "nuget", readUploadedFile(c));
  const { parsed, known, manifest } = await withBlobs(ctx, [blob], async () => {
    const opened = await parseNupkg(sourceOfBlob(ctx, blob));
    const key = { type: "nuget", nameKey: opened.nuspec.id.toLowerCase() } as const;
    return {
      parsed: opened.nuspec,
      known: await findPackage(ctx, owner, key),
      manifest: await storeBlob(ctx, "nuget", opened.manifest),
    };
  });
  const { id, version, metadata } = parsed;
  const name = nupkgKey(id, version);
  await publishVersion(ctx, owner, known, {
    type: "nuget",
    name: id,
    nameKey: id.toLowerCase(),
    version: version.normalized,
    versionKey: nugetVersionKey(version),
    metadata,
    files: [
      { blob, name, nameKey: name, isLead: true },
      { blob: manifest, name: `${id}.nuspec`, nameKey: manifestKey(id) },
    ],
    ifVersionExists: "refuse",
  });
}

/**
 * Adds a package of symbols to the version that it is for, with its symbols as files.
 *
 * @throws Failure `not_found` if there is no such version; `conflict` if it has symbols.
 */
export async function publishSymbols(
  c: RegistryContext,
  ctx: Ctx,
  owner: PackageOwner,
): Promise<void> {
  const blob = await receiveBlob(ctx, "nuget", readUploadedFile(c));
  const blobs: ReceivedBlob[] = [blob];
  const files: PublishedFile[] = [];
  // The blobs stored here are dropped with the package of symbols, whatever fails.
  const { id, version, known } = await withBlobs(ctx, blobs, async () => {
    const opened = await parseNupkg(sourceOfBlob(ctx, blob));
    const { nuspec } = opened;
    const key = { type: "nuget", nameKey: nuspec.id.toLowerCase() } as const;
    const pkg = await findPackage(ctx, owner, key);
    const found = pkg && (await findVersion(ctx, pkg, nugetVersionKey(nuspec.version)));
    if (!found) throw notFound("the package of these symbols does not exist");
    const name = snupkgKey(nuspec.id, nuspec.version);
    files.push({ blob, name, nameKey: name });
    for await (const symbols of readSymbols(opened)) {
      const stored = await storeBlob(ctx, "nuget", symbols.bytes);
      blobs.push(stored);
      files.push({
        blob: stored,
        name: symbols.name,
        nameKey: symbols.name.toLowerCase(),
        compositeKey: symbols.id,
        properties: { [SYMBOLS_ID]: symbols.id },
      });
    }
    return { ...nuspec, known: pkg };
  });
  await publishVersion(ctx, owner, known, {
    type: "nuget",
    name: known.row.name,
    nameKey: id.toLowerCase(),
    version: version.normalized,
    versionKey: nugetVersionKey(version),
    files,
    ifVersionExists: "add",
  });
}

/**
 * Streams the uploaded file: the first one of a form, as NuGet clients send it, or the body itself.
 */
async function* readUploadedFile(c: RegistryContext): AsyncGenerator<Uint8Array> {
  const type = c.req.header("content-type") ?? "";
  const { body } = c.req.raw;
  if (!/^multipart\/form-data\b/i.test(type) || !body) {
    yield* readUpload(c);
    return;
  }
  let hasFile = false;
  for await (const { filename, pieces } of readFormParts(type, body)) {
    if (filename === undefined || hasFile) continue;
    hasFile = true;
    yield* pieces;
  }
  if (!hasFile) throw malformed("the form has no file");
}
