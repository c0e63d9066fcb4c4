import {
  publishVersion,
  type PublishedFile,
} from "../../domain/packages/package/publish-version.ts";
import {
  receiveBlob,
  storeBlob,
  withBlobs,
  type ReceivedBlob,
} from "../../domain/packages/package/receive-blob.ts";
import type { Ctx } from "../../context.ts";
import { inspectPieces } from "../../lib/inspect-pieces.ts";
import { malformed } from "../../lib/failure.ts";
import type { PackageRequest } from "../enter.ts";
import type { RegistryContext } from "../env.ts";
import { readUpload } from "../read-upload.ts";
import { changePackage } from "./change-package.ts";
import { inspectTarball, type TarballContent } from "./inspect-tarball.ts";
import {
  parseDocument,
  parsePublication,
  type ParsedPublication,
  type Tarball,
} from "./parse-publication.ts";
import { readDocument } from "./read-document.ts";
import { setDistTags } from "./tags.ts";

/**
 * Takes the document that a client puts at a package: one with a tarball publishes a version, one
 * without changes versions that exist, as `npm deprecate` does.
 *
 * The tarball is stored and inspected while it arrives.
 *
 * @throws Failure `malformed` for a document that does not match its tarball; `conflict` for a
 * version that exists; and as `publishVersion`.
 */
export async function putPackage(
  c: RegistryContext,
  { ctx, owner, pkg }: PackageRequest,
  name: string,
): Promise<void> {
  const tarballs: Tarball[] = [];
  const blobs: ReceivedBlob[] = [];
  const parsed = await withBlobs(ctx, blobs, async () => {
    const body = await readDocument(readUpload(c), async (file, content) => {
      if (tarballs.length > 0) throw malformed("a document publishes one tarball");
      const tarball = await receiveTarball(ctx, file, content);
      blobs.push(tarball.blob);
      tarballs.push(tarball);
    });
    const document = parseDocument(body, name);
    const [tarball] = tarballs;
    if (!tarball) return { document };
    const publication = parsePublication(document, tarball);
    return { document, publication, files: await filesOf(ctx, publication, tarball, blobs) };
  });
  const { document, publication, files } = parsed;
  if (!publication) {
    if (!pkg) throw malformed("package attachment is invalid: a new package needs its tarball");
    return changePackage(ctx, pkg, document);
  }
  const { version, versionKey, manifest, tags } = publication;
  await publishVersion(ctx, owner, pkg, {
    type: "npm",
    name,
    nameKey: name,
    version,
    versionKey,
    metadata: manifest,
    files,
    ifVersionExists: "refuse",
    also: (key) =>
      setDistTags(ctx.db, key, Object.fromEntries(tags.map((tag) => [tag, versionKey]))),
  });
}

async function receiveTarball(
  ctx: Ctx,
  name: string,
  content: AsyncGenerator<Uint8Array>,
): Promise<Tarball> {
  let inspected: TarballContent | undefined;
  const inspecting = inspectPieces(content, inspectTarball, (result) => {
    inspected = result;
  });
  const blob = await receiveBlob(ctx, "npm", inspecting);
  if (!inspected) throw new Error("the tarball was stored without an inspection");
  return { name, blob, content: inspected };
}

/** The files of a version: its tarball and, beside it, its provenance. */
async function filesOf(
  ctx: Ctx,
  { fileName, provenance }: ParsedPublication,
  { blob }: Tarball,
  blobs: ReceivedBlob[],
): Promise<PublishedFile[]> {
  const files: PublishedFile[] = [{ blob, name: fileName, nameKey: fileName, isLead: true }];
  if (provenance === undefined) return files;
  const stored = await storeBlob(ctx, "npm", new TextEncoder().encode(provenance));
  blobs.push(stored);
  return [...files, { blob: stored, name: PROVENANCE_FILE, nameKey: PROVENANCE_FILE }];
}

/** The name of the file that holds the provenance of a version. */
export const PROVENANCE_FILE = "provenance.sigstore";
