import { z } from "zod";

import { imageFailure } from "../../domain/packages/images/image-failure.ts";
import type { Digest } from "../../domain/packages/images/image.ts";
import type { ManifestFacts } from "../../domain/packages/images/manifest.ts";
import { boundedList, boundedRecord } from "../../lib/bounded.ts";
import { parseJson } from "../../lib/json.ts";
import { isDigest } from "./names.ts";

const IMAGE_TYPES: ReadonlySet<string> = new Set([
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
]);
const INDEX_TYPES: ReadonlySet<string> = new Set([
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
]);

/** Layers that clients get from elsewhere. */
const FOREIGN_LAYER =
  /^application\/vnd\.(?:oci\.image\.layer\.nondistributable\.|docker\.image\.rootfs\.foreign\.)/;

/** Maximum bytes of annotations of a manifest with a subject: lists of referrers repeat them. */
const ANNOTATIONS_BYTES_MAX = 64 * 1024;

/** Maximum annotations of a manifest. */
const ANNOTATIONS_MAX = 10_000;

/** Maximum layers of an image, and manifests of an index. */
const DESCRIPTORS_MAX = 10_000;

const Text = z.string().max(4096);

const Descriptor = z.object({
  mediaType: Text,
  digest: z.custom<Digest>((value) => typeof value === "string" && isDigest(value)),
  size: z.int().min(0),
});

const Descriptors = boundedList(Descriptor, DESCRIPTORS_MAX);

const Common = z.object({
  schemaVersion: z.literal(2),
  mediaType: Text.optional(),
  artifactType: Text.optional(),
  subject: Descriptor.nullish(),
  annotations: boundedRecord(z.string(), ANNOTATIONS_MAX).nullish(),
});

// SECURITY: a document that is an image to one client and an index to another is neither
// (CVE-2021-41190).
const Image = Common.extend({
  config: Descriptor,
  layers: Descriptors.nullish(),
  manifests: z.never().optional(),
});
const Index = Common.extend({
  manifests: Descriptors,
  config: z.never().optional(),
  layers: z.never().optional(),
});

/**
 * Reads an image manifest or an index, of OCI or of Docker's schema 2.
 *
 * @param contentType The media type that the request states.
 * @throws Failure `malformed`, MANIFEST_INVALID
 * @see OCI image specification 1.1, manifest.md and image-index.md.
 */
export async function parseManifest(
  bytes: Uint8Array,
  contentType: string | undefined,
): Promise<ManifestFacts> {
  const document = await parseDocument(bytes);
  const stated = contentType?.split(";")[0]?.trim().toLowerCase();
  const { mediaType: own } = z.object({ mediaType: Text.optional() }).catch({}).parse(document);
  const mediaType = stated ?? own ?? "";
  if (own !== undefined && own !== mediaType) {
    throw invalid(`the manifest is ${own}, and the request is ${mediaType}`);
  }
  if (IMAGE_TYPES.has(mediaType)) return imageFacts(mediaType, parseAs(Image, document));
  if (INDEX_TYPES.has(mediaType)) return indexFacts(mediaType, parseAs(Index, document));
  throw invalid("the media type is none of an image manifest or index of OCI or Docker");
}

function imageFacts(mediaType: string, image: z.infer<typeof Image>): ManifestFacts {
  const layers = image.layers ?? [];
  const isForeign = (layer: z.infer<typeof Descriptor>) => FOREIGN_LAYER.test(layer.mediaType);
  return {
    ...commonFacts(mediaType, image, image.config.mediaType),
    blobs: digestsOf([image.config, ...layers.filter((layer) => !isForeign(layer))]),
    foreignBlobs: digestsOf(layers.filter(isForeign)),
    manifests: [],
  };
}

/** Whatever an index names that is no manifest is a blob: BuildKit keeps its cache so. */
function indexFacts(mediaType: string, index: z.infer<typeof Index>): ManifestFacts {
  const isManifest = ({ mediaType: type }: z.infer<typeof Descriptor>) =>
    IMAGE_TYPES.has(type) || INDEX_TYPES.has(type);
  return {
    ...commonFacts(mediaType, index, undefined),
    blobs: digestsOf(index.manifests.filter((each) => !isManifest(each))),
    foreignBlobs: [],
    manifests: digestsOf(index.manifests.filter(isManifest)),
  };
}

function commonFacts(
  mediaType: string,
  { artifactType, subject, annotations }: z.infer<typeof Common>,
  configType: string | undefined,
) {
  const type = artifactType || configType;
  if (!subject) return { mediaType, ...(type && { artifactType: type }) };
  if (JSON.stringify(annotations ?? {}).length > ANNOTATIONS_BYTES_MAX) {
    throw invalid(
      `a manifest with a subject has at most ${ANNOTATIONS_BYTES_MAX} bytes of annotations`,
    );
  }
  return {
    mediaType,
    ...(type && { artifactType: type }),
    subject: subject.digest,
    ...(annotations && { annotations }),
  };
}

const digestsOf = (descriptors: readonly { digest: Digest }[]): Digest[] => [
  ...new Set(descriptors.map(({ digest }) => digest)),
];

async function parseDocument(bytes: Uint8Array): Promise<unknown> {
  try {
    return await parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw invalid("the manifest is not JSON");
  }
}

function parseAs<T>(schema: z.ZodType<T>, document: unknown): T {
  const parsed = schema.safeParse(document);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalid(`the manifest is not valid at ${issue?.path.join(".") || "its top"}`);
}

const invalid = (message: string) => imageFailure("MANIFEST_INVALID", message);
