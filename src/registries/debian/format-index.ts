import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";

import { debFileNameOf, type BinaryName, type Place } from "./names.ts";

/** A package file in one place, as an index lists it. */
export interface IndexedDeb extends BinaryName, Place {
  /** Fields of its control file. */
  readonly text: string;
  readonly sizeBytes: number;
  readonly md5: string;
  readonly sha1: string;
  readonly sha256: string;
  readonly sha512: string;
}

/** The architecture of packages that run on each. */
const ALL = "all";

/** Digests of index files, by the fields of a Release file that list them. */
export const INDEX_DIGESTS = [
  ["MD5Sum", "md5"],
  ["SHA1", "sha1"],
  ["SHA256", "sha256"],
  ["SHA512", "sha512"],
] as const;

/** A file of a distribution, with its path below the Release file. */
export interface IndexFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** Endings of the files that hold the same list, and what makes them of its text. */
export const LIST_FORMS: ReadonlyMap<string, (text: Uint8Array) => Uint8Array> = new Map([
  ["Packages", (text: Uint8Array) => text],
  ["Packages.gz", (text: Uint8Array) => new Uint8Array(gzipSync(text, { level: 9 }))],
]);

export const listPathOf = (component: string, architecture: string, file: string): string =>
  `${component}/binary-${architecture}/${file}`;

/**
 * The list of the packages of one component for an architecture, with those for all of them.
 *
 * @see https://wiki.debian.org/DebianRepository/Format
 */
export const formatPackages = (debs: readonly IndexedDeb[], architecture: string): Uint8Array =>
  new TextEncoder().encode(
    debs
      .filter((deb) => deb.architecture === architecture || deb.architecture === ALL)
      .map(formatEntry)
      .join("\n"),
  );

function formatEntry(deb: IndexedDeb): string {
  const { text, distribution, component, sizeBytes, md5, sha1, sha256, sha512 } = deb;
  return `${text}Filename: pool/${distribution}/${component}/${debFileNameOf(deb)}
Size: ${sizeBytes}
MD5sum: ${md5}
SHA1: ${sha1}
SHA256: ${sha256}
SHA512: ${sha512}
`;
}

/** The architectures of some packages, sorted. */
const architecturesOf = (debs: readonly IndexedDeb[]): string[] => unique(debs, "architecture");

function unique(debs: readonly IndexedDeb[], field: "architecture" | "component"): string[] {
  return [...new Set(debs.map((deb) => deb[field]))].toSorted((one, other) =>
    one < other ? -1 : 1,
  );
}

/** All lists of the packages of a distribution, sorted by their paths. */
export function formatLists(debs: readonly IndexedDeb[]): IndexFile[] {
  const architectures = architecturesOf(debs);
  return unique(debs, "component").flatMap((component) => {
    const own = debs.filter((deb) => deb.component === component);
    return architectures.flatMap((architecture) => {
      const text = formatPackages(own, architecture);
      return [...LIST_FORMS].map(([file, pack]) => ({
        path: listPathOf(component, architecture, file),
        bytes: pack(text),
      }));
    });
  });
}

/** The fields of a Release file besides its lists. */
interface ReleaseFacts {
  /** The name of the service. */
  readonly origin: string;
  readonly distribution: string;
  readonly changedAt: number;
}

/** The Release file of a distribution. */
export function formatRelease(
  { origin, distribution, changedAt }: ReleaseFacts,
  debs: readonly IndexedDeb[],
  lists: readonly IndexFile[],
): string {
  const architectures = architecturesOf(debs);
  const hasOthers = architectures.some((architecture) => architecture !== ALL);
  const lines = [
    `Origin: ${origin}`,
    `Label: ${origin}`,
    `Suite: ${distribution}`,
    `Codename: ${distribution}`,
    `Components: ${unique(debs, "component").join(" ")}`,
    `Architectures: ${architectures.join(" ")}`,
    `Date: ${new Date(changedAt).toUTCString().replace("GMT", "UTC")}`,
    "Acquire-By-Hash: yes",
    // The list of each architecture has them already.
    ...(hasOthers ? ["No-Support-for-Architecture-all: Packages"] : []),
    ...INDEX_DIGESTS.map(([field, digest]) => `${field}:${formatDigests(lists, digest)}`),
  ];
  return `${lines.join("\n")}\n`;
}

/** A line for each list, each after a line feed. */
const formatDigests = (lists: readonly IndexFile[], digest: string): string =>
  lists
    .map(({ path, bytes }) => {
      const hash = createHash(digest).update(bytes).digest("hex");
      return `\n ${hash} ${bytes.length} ${path}`;
    })
    .join("");
