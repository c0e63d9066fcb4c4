import { malformed } from "../../lib/failure.ts";
import { requestPath } from "../../lib/request-path.ts";
import type { RegistryContext } from "../env.ts";

/** Names of checksums, as the extensions of their files and as the columns of a blob. */
const CHECKSUMS = ["md5", "sha1", "sha256", "sha512"] as const;
export type Checksum = (typeof CHECKSUMS)[number];

const METADATA_FILE = "maven-metadata.xml";

/**
 * The target of a path of a Maven repository; with `checksum` the file that has its checksum.
 *
 * @see https://maven.apache.org/repositories/layout.html
 */
export type MavenPath =
  | {
      readonly kind: "file";
      readonly artifact: Artifact;
      readonly version: string;
      readonly file: string;
      readonly checksum: Checksum | undefined;
    }
  /** The directory of a version. Its path ends in a slash. */
  | { readonly kind: "version"; readonly artifact: Artifact; readonly version: string }
  /** The metadata of one snapshot version. */
  | {
      readonly kind: "snapshot-metadata";
      readonly artifact: Artifact;
      readonly version: string;
      readonly checksum: Checksum | undefined;
    }
  /**
   * The metadata of an artifact, of the plugins of a group, or of both: their paths have one form.
   */
  | {
      readonly kind: "metadata";
      /** Undefined where the path has one segment, which can only be a group. */
      readonly artifact: Artifact | undefined;
      readonly group: string;
      readonly checksum: Checksum | undefined;
    };

export interface Artifact {
  readonly groupId: string;
  readonly artifactId: string;
}

/** The name of the package of an artifact. */
export const packageNameOf = ({ groupId, artifactId }: Artifact): string =>
  `${groupId}:${artifactId}`;

export const isSnapshot = (version: string): boolean => version.endsWith("-SNAPSHOT");

const GROUP_PART = /^[A-Za-z0-9_-]{1,100}$/;
const ARTIFACT = /^[A-Za-z0-9_.-]{1,150}$/;
/** A version or the name of a file: what all file systems and URLs take. */
const VERSION = /^[^\p{Cc}\s/\\:"<>|?*()[\],;%#]{1,200}$/u;
const GROUP_CHARS_MAX = 300;

/**
 * SECURITY: names that consist of dots would be steps of a path for clients that store what they
 * download.
 */
const isDots = (text: string): boolean => /^\.+$/.test(text);

/** @throws Failure `malformed` for a path that no Maven repository has. */
export function parseMavenPath(c: RegistryContext): MavenPath {
  // Behind /api/packages/{owner}/maven/.
  const segments = requestPath(c.req.url).split("/").slice(5).map(decode);
  const last = new URL(c.req.url).pathname.endsWith("/") ? "" : (segments.pop() ?? "");
  const [file, checksum] = splitChecksum(last);
  if (file === METADATA_FILE) return metadataPath(segments, checksum);
  const version = segments.pop() ?? "";
  const artifact = artifactOf(segments);
  requirePart(VERSION, version, "version");
  if (last === "") return { kind: "version", artifact, version };
  requirePart(VERSION, file, "file name");
  return { kind: "file", artifact, version, file, checksum };
}

function metadataPath(segments: readonly string[], checksum: Checksum | undefined): MavenPath {
  const last = segments.at(-1) ?? "";
  // No artifact is called so: ids end in no version.
  if (isSnapshot(last) && segments.length > 2) {
    requirePart(VERSION, last, "version");
    const artifact = artifactOf(segments.slice(0, -1));
    return { kind: "snapshot-metadata", artifact, version: last, checksum };
  }
  if (segments.length < 2) {
    return { kind: "metadata", artifact: undefined, group: groupOf(segments), checksum };
  }
  // The last segment may have dots, as an artifact may; such a group has no plugins.
  const artifact = artifactOf(segments);
  return { kind: "metadata", artifact, group: segments.join("."), checksum };
}

function artifactOf(segments: readonly string[]): Artifact {
  const artifactId = segments.at(-1) ?? "";
  requirePart(ARTIFACT, artifactId, "artifact id");
  return { groupId: groupOf(segments.slice(0, -1)), artifactId };
}

/**
 * The group of a directory. A dot in a segment is refused: the directories `a.b` and `a/b` would be
 * one group, of which Maven knows only the second one.
 */
function groupOf(segments: readonly string[]): string {
  for (const segment of segments) requirePart(GROUP_PART, segment, "part of a group id");
  const group = segments.join(".");
  if (group === "" || group.length > GROUP_CHARS_MAX) throw malformed("no path of a repository");
  return group;
}

function requirePart(form: RegExp, text: string, noun: string): void {
  if (!form.test(text) || isDots(text)) throw malformed(`the path has no valid ${noun}`);
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw malformed("the path is not well-formed");
  }
}

/** Splits the name of a checksum file. */
function splitChecksum(name: string): [file: string, checksum: Checksum | undefined] {
  const checksum = CHECKSUMS.find((each) => name.endsWith(`.${each}`));
  return checksum ? [name.slice(0, -checksum.length - 1), checksum] : [name, undefined];
}
