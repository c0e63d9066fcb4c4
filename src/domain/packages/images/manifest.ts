import { z } from "zod";

import type { ContentKind, Digest } from "./image.ts";

const DigestText = z.custom<Digest>((value) => typeof value === "string");

/** The parsed facts of a manifest and of the contents it names: the metadata of its files. */
export const ManifestFacts = z.object({
  mediaType: z.string(),
  /** As the list of referrers shows it: the manifest's own, or the type of its config. */
  artifactType: z.string().optional(),
  /** The manifest that it is about. */
  subject: DigestText.optional(),
  annotations: z.record(z.string(), z.string()).optional(),
  /** The blobs that must be there, those of the named manifests included. */
  blobs: z.array(DigestText),
  /** Blobs that clients get from elsewhere, and that may be there. */
  foreignBlobs: z.array(DigestText),
  /** The manifests that it names, those that they name included. */
  manifests: z.array(DigestText),
});
export type ManifestFacts = z.infer<typeof ManifestFacts>;

/** A content as a manifest needs it. */
export type NeededContent = readonly [digest: Digest, kind: ContentKind];

/** The contents that must be there. */
export const neededContents = ({ blobs, manifests }: ManifestFacts): NeededContent[] => [
  ...blobs.map((digest) => [digest, "blob"] as const),
  ...manifests.map((digest) => [digest, "manifest"] as const),
];

/** The facts of an index with what its manifests need. */
export function withContentsOf(
  facts: ManifestFacts,
  named: readonly ManifestFacts[],
): ManifestFacts {
  const all = [facts, ...named];
  const union = (of: (each: ManifestFacts) => readonly Digest[]) => [...new Set(all.flatMap(of))];
  return {
    ...facts,
    blobs: union(({ blobs }) => blobs),
    foreignBlobs: union(({ foreignBlobs }) => foreignBlobs),
    manifests: union(({ manifests }) => manifests),
  };
}
