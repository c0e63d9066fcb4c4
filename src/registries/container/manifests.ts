import { createHash } from "node:crypto";

import { deleteManifest } from "../../domain/packages/images/delete-manifest.ts";
import {
  manifestArgument,
  type Reference,
  selectImageWithManifest,
} from "../../domain/packages/images/select-image-file.ts";
import { imageFailure } from "../../domain/packages/images/image-failure.ts";
import { algorithmOf, type Digest } from "../../domain/packages/images/image.ts";
import { ManifestFacts } from "../../domain/packages/images/manifest.ts";
import { publishManifest } from "../../domain/packages/images/publish-manifest.ts";
import { answerFile } from "../answer-file.ts";
import type { RegistryContext } from "../env.ts";
import { readBytes } from "../read-upload.ts";
import { enterImage, enterImageFile, requireImage } from "./enter-image.ts";
import { digestMalformed, parseReference } from "./names.ts";
import { parseManifest } from "./parse-manifest.ts";

/** Maximum size of a manifest, in bytes. Clients read no larger ones. */
const MANIFEST_BYTES_MAX = 10 * 1024 * 1024;

export async function getManifest(
  c: RegistryContext,
  image: string,
  reference: string,
): Promise<Response> {
  const named = parseReference(reference);
  const file = manifestArgument(named);
  const { ctx, found } = await enterImageFile(c, image, selectImageWithManifest, file);
  if (!named || !found) throw manifestUnknown();
  // Under a tag, the one that it was pushed with.
  const digest = named.digest ?? (found.file.nameKey as Digest);
  return answerFile(c, ctx, found, {
    type: ManifestFacts.parse(found.file.metadata).mediaType,
    tag: digest,
    headers: { "Docker-Content-Digest": digest },
  });
}

export async function putManifest(
  c: RegistryContext,
  image: string,
  reference: string,
): Promise<Response> {
  const request = await enterImage(c, image, "write");
  const named = requireReference(reference);
  const bytes = await readBytes(c, MANIFEST_BYTES_MAX);
  const facts = await parseManifest(bytes, c.req.header("content-type"));
  const algorithm = named.digest ? algorithmOf(named.digest) : "sha256";
  const digest: Digest = `${algorithm}:${createHash(algorithm).update(bytes).digest("hex")}`;
  if (named.digest !== undefined && named.digest !== digest) {
    throw imageFailure("DIGEST_INVALID", `the manifest is ${digest}`);
  }
  await publishManifest(request.ctx, request, { bytes, digest, facts, tag: named.tag });
  return c.body(null, 201, {
    Location: `${request.path}/manifests/${reference}`,
    "Docker-Content-Digest": digest,
    ...(facts.subject && { "OCI-Subject": facts.subject }),
  });
}

export async function removeManifest(
  c: RegistryContext,
  image: string,
  reference: string,
): Promise<Response> {
  const request = await enterImage(c, image, "write");
  const named = parseReference(reference);
  if (!named) throw manifestUnknown();
  await deleteManifest(request.ctx, requireImage(request), named);
  return c.body(null, 202);
}

const manifestUnknown = () =>
  imageFailure("MANIFEST_UNKNOWN", "the image has no manifest of this tag or digest");

function requireReference(text: string): Reference {
  const reference = parseReference(text);
  if (reference) return reference;
  if (text.includes(":")) {
    throw digestMalformed();
  }
  throw imageFailure(
    "MANIFEST_INVALID",
    "a tag has at most 128 letters, digits and ._- and does not begin with . or -",
  );
}
