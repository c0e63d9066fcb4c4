import { deleteManifest } from "../../domain/images/delete-manifest.ts";
import { findManifest, type Reference } from "../../domain/images/find-manifest.ts";
import { imageFailure } from "../../domain/images/image-failure.ts";
import type { Digest } from "../../domain/images/image.ts";
import { publishManifest } from "../../domain/images/publish-manifest.ts";
import { formatHex } from "../../lib/hex.ts";
import { answerFile } from "../answer-file.ts";
import type { RegistryContext } from "../env.ts";
import { readBytes } from "../read-upload.ts";
import { enterImage, requireImage } from "./enter-image.ts";
import { parseReference } from "./names.ts";
import { parseManifest } from "./parse-manifest.ts";

/** Maximum size of a manifest, in bytes. Clients read no larger ones. */
const MANIFEST_BYTES_MAX = 10 * 1024 * 1024;

export async function getManifest(
  c: RegistryContext,
  image: string,
  reference: string,
): Promise<Response> {
  const { ctx, pkg } = await enterImage(c, image, "read");
  const named = parseReference(reference);
  const found = pkg && named && (await findManifest(ctx, pkg, named));
  if (!found) throw manifestUnknown();
  const digest: Digest = `sha256:${found.content.blob.sha256}`;
  return answerFile(c, ctx, found.content, {
    type: found.facts.mediaType,
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
  const facts = parseManifest(bytes, c.req.header("content-type"));
  const sum = await crypto.subtle.digest("SHA-256", bytes);
  const digest: Digest = `sha256:${formatHex(new Uint8Array(sum))}`;
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
    throw imageFailure("DIGEST_INVALID", "a digest is sha256: and 64 hex digits");
  }
  throw imageFailure(
    "MANIFEST_INVALID",
    "a tag has at most 128 letters, digits and ._- and does not begin with . or -",
  );
}
