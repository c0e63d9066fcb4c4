import parseSemver from "semver/functions/parse.js";
import { z } from "zod";

import type { ReceivedBlob } from "../../domain/packages/package/receive-blob.ts";
import { boundedRecord } from "../../lib/bounded.ts";
import { formatBase64 } from "../../lib/base64.ts";
import { malformed } from "../../lib/failure.ts";
import { parseHex } from "../../lib/hex.ts";
import type { TarballContent } from "./inspect-tarball.ts";
import type { Dist, Manifest } from "./manifest.ts";
import { LATEST, requireDistTag, unscoped, versionKeyOf } from "./names.ts";

/** Maximum versions of a document, and its tags. */
const ENTRIES_MAX = 20_000;

/**
 * A document that a client puts: a version with its tarball, or what it changes of versions that
 * exist.
 */
const Document = z.object({
  name: z.string(),
  _rev: z.string().optional(),
  "dist-tags": boundedRecord(z.string(), ENTRIES_MAX).optional(),
  versions: boundedRecord(z.looseObject({ name: z.string(), version: z.string() }), ENTRIES_MAX),
  /** The stars of the package. */
  users: boundedRecord(z.unknown(), ENTRIES_MAX).nullish(),
  readme: z.string().nullish(),
  readmeFilename: z.string().nullish(),
  _attachments: boundedRecord(
    z.object({
      data: z.string(),
      length: z.number().optional(),
      content_type: z.string().optional(),
    }),
    ENTRIES_MAX,
  ).nullish(),
});
export type Document = z.infer<typeof Document>;

/** A tarball that was received. */
export interface Tarball {
  /** The name of its attachment. */
  readonly name: string;
  readonly blob: ReceivedBlob;
  readonly content: TarballContent;
}

/** A version to publish. */
export interface ParsedPublication {
  readonly version: string;
  readonly versionKey: string;
  readonly manifest: Manifest;
  readonly tags: readonly string[];
  readonly fileName: string;
  /** The statement of where the version was built, as JSON. */
  readonly provenance: string | undefined;
}

/** Maximum bytes of a readme, that of npm. */
const README_CHARS_MAX = 64 * 1024;
const TAGS_MAX = 20;
/** Maximum length of a provenance, which is parsed at once: they have some 10,000 characters. */
const PROVENANCE_CHARS_MAX = 256 * 1024;

/**
 * Checks the outline of a document.
 *
 * @throws Failure `malformed`, also for another package than the path names.
 */
export function parseDocument(body: unknown, name: string): Document {
  const { data, error } = Document.safeParse(body);
  if (error) {
    const at = error.issues[0]?.path.join(".") || "the body";
    throw malformed(`package is invalid: ${at}`);
  }
  if (data.name !== name) throw malformed("package name is invalid: it is not that of the address");
  return data;
}

/**
 * Converts a document with a tarball to the version that it publishes.
 *
 * SECURITY: name, version, size and digests that the document announces must be those of the
 * tarball: who installs sees the document first.
 *
 * @throws Failure `malformed`.
 */
export function parsePublication(document: Document, tarball: Tarball): ParsedPublication {
  const { name, versions } = document;
  const [[key, manifest] = [], ...others] = Object.entries(versions);
  if (key === undefined || !manifest || others.length > 0) {
    throw malformed("package is invalid: it must have one version");
  }
  const versionKey = versionKeyOf(key);
  if (versionKey === undefined || manifest.version !== key) {
    throw malformed("package version is invalid");
  }
  if (manifest.name !== name) throw malformed("package name is invalid: versions differ from it");
  requireSamePackage(tarball.content, name, versionKey);
  requireSameContent(document, manifest, tarball);
  const tags = parseTags(document["dist-tags"] ?? {}, key);
  const provenance = findProvenance(document);
  const readme = manifest["readme"] ?? document.readme;
  return {
    version: key,
    versionKey,
    tags,
    fileName: `${unscoped(name)}-${key}.tgz`,
    provenance: provenance?.bundle,
    manifest: {
      ...manifest,
      _id: `${name}@${key}`,
      ...(typeof readme === "string" && { readme: readme.slice(0, README_CHARS_MAX) }),
      ...(tarball.content.hasShrinkwrap && { _hasShrinkwrap: true }),
      dist: distOf(tarball, provenance?.predicateType),
    },
  };
}

function requireSamePackage(
  { name, version }: TarballContent,
  expected: string,
  key: string,
): void {
  const actual = typeof version === "string" ? parseSemver(version.trim(), { loose: true }) : null;
  if (typeof name === "string" && name.trim() === expected && actual?.version === key) return;
  throw malformed("the package.json in the tarball is of another package or version");
}

const AnnouncedDist = z.looseObject({
  integrity: z.string().optional(),
  shasum: z.string().optional(),
});

function requireSameContent(
  { _attachments }: Document,
  manifest: Record<string, unknown>,
  { name, blob }: Tarball,
): void {
  const length = _attachments?.[name]?.length;
  if (length !== undefined && length !== blob.sizeBytes) {
    throw malformed("the attachment has not the length that it announces");
  }
  const dist = AnnouncedDist.safeParse(manifest["dist"] ?? {}).data;
  if (!dist) throw malformed("package is invalid: dist");
  const { integrity, shasum } = dist;
  // One of several algorithms: others than SHA-512 are not compared.
  const announced = integrity?.split(/\s+/).filter((each) => each.startsWith("sha512-")) ?? [];
  const isSame =
    (announced.length === 0 || announced.includes(formatIntegrity(blob))) &&
    (shasum === undefined || shasum.toLowerCase() === blob.sha1);
  if (!isSame) throw malformed("the tarball has not the digest that the document announces");
}

/** @see W3C Subresource Integrity. */
const formatIntegrity = ({ sha512 }: ReceivedBlob): string =>
  `sha512-${formatBase64(parseHex(sha512))}`;

const distOf = ({ blob, content }: Tarball, predicateType: string | undefined): Dist => ({
  integrity: formatIntegrity(blob),
  shasum: blob.sha1,
  fileCount: content.fileCount,
  unpackedSize: content.unpackedBytes,
  ...(predicateType !== undefined && { attestations: { provenance: { predicateType } } }),
});

/**
 * The tags that the published version gets. Clients send the one of `--tag`, which is `latest` by
 * default.
 */
function parseTags(tags: Readonly<Record<string, string>>, version: string): string[] {
  const names = Object.keys(tags);
  if (names.length === 0) return [LATEST];
  if (names.length > TAGS_MAX) throw malformed(`a version gets at most ${TAGS_MAX} tags`);
  for (const name of names) {
    requireDistTag(name);
    if (tags[name] !== version) throw malformed("a tag names another version than is published");
  }
  return names;
}

const Bundle = z.object({ dsseEnvelope: z.object({ payload: z.string() }) });
const Statement = z.object({ predicateType: z.string().max(255) });

/** The provenance among the attachments: a bundle of Sigstore, which clients verify. */
function findProvenance({ _attachments }: Document) {
  const others = Object.entries(_attachments ?? {}).filter(([name]) => !name.endsWith(".tgz"));
  const [[name, attachment] = [], ...more] = others;
  if (name === undefined || !attachment) return undefined;
  if (attachment.data.length > PROVENANCE_CHARS_MAX) {
    throw malformed(`the provenance has more than ${PROVENANCE_CHARS_MAX} characters`);
  }
  if (more.length > 0 || !name.endsWith(".sigstore")) {
    throw malformed("package attachment is invalid: neither a .tgz nor a .sigstore");
  }
  try {
    const { dsseEnvelope } = Bundle.parse(JSON.parse(attachment.data));
    const { predicateType } = Statement.parse(JSON.parse(atob(dsseEnvelope.payload)));
    return { bundle: attachment.data, predicateType };
  } catch {
    throw malformed("the provenance is not a bundle of Sigstore with a statement");
  }
}
