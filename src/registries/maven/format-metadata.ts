import { escapeXml } from "../../lib/xml.ts";
import { compareMavenVersions } from "./compare-versions.ts";
import { type Artifact, isSnapshot } from "./paths.ts";
import type { PluginEntry } from "./parse-pom.ts";

/** A version of an artifact. */
export interface MavenVersion {
  readonly version: string;
  /** When its last file was published, in milliseconds. */
  readonly updatedAt: number;
}

/** A file of a snapshot version. */
export interface SnapshotFile {
  readonly name: string;
  readonly createdAt: number;
}

/**
 * The metadata of the artifact and the group of one path, of which either may have nothing.
 *
 * `latest` is the highest version, `release` the highest one that is no snapshot.
 *
 * @see https://maven.apache.org/ref/current/maven-repository-metadata/repository-metadata.html
 */
export function formatMetadata(
  artifact: Artifact | undefined,
  versions: readonly MavenVersion[],
  plugins: readonly PluginEntry[],
): string {
  const sorted = versions.toSorted(
    (one, other) =>
      compareMavenVersions(one.version, other.version) || (one.version < other.version ? -1 : 1),
  );
  const latest = sorted.at(-1)?.version;
  const release = sorted.findLast(({ version }) => !isSnapshot(version))?.version;
  return document([
    ...(artifact && latest !== undefined
      ? [
          element("groupId", artifact.groupId),
          element("artifactId", artifact.artifactId),
          group("versioning", [
            element("latest", latest),
            ...(release === undefined ? [] : [element("release", release)]),
            group(
              "versions",
              sorted.map(({ version }) => element("version", version)),
            ),
            element("lastUpdated", lastOf(versions.map(({ updatedAt }) => updatedAt))),
          ]),
        ]
      : []),
    ...(plugins.length > 0
      ? [
          group(
            "plugins",
            plugins.map(({ name, prefix, artifactId }) =>
              group("plugin", [
                element("name", name),
                element("prefix", prefix),
                element("artifactId", artifactId),
              ]),
            ),
          ),
        ]
      : []),
  ]);
}

/** A file of one build of a snapshot. */
interface Build {
  /** The version in the file's name: with a timestamp and a build number, or as it is. */
  readonly value: string;
  readonly timestamp: string;
  readonly buildNumber: number;
  readonly classifier: string;
  readonly extension: string;
  readonly createdAt: number;
}

/**
 * The metadata of one snapshot version: its newest build, and the newest file of each classifier
 * and extension.
 */
export function formatSnapshotMetadata(
  artifact: Artifact,
  version: string,
  files: readonly SnapshotFile[],
): string {
  const builds = files
    .map((file) => parseBuild(artifact, version, file))
    .filter((build): build is Build => build !== undefined)
    .toSorted(compareBuilds);
  const newest = builds.at(-1);
  const last = new Map(builds.map((build) => [`${build.classifier}:${build.extension}`, build]));
  return document(
    [
      element("groupId", artifact.groupId),
      element("artifactId", artifact.artifactId),
      element("version", version),
      group("versioning", [
        ...(newest && newest.timestamp !== ""
          ? [
              group("snapshot", [
                element("timestamp", newest.timestamp),
                element("buildNumber", String(newest.buildNumber)),
              ]),
            ]
          : []),
        element("lastUpdated", lastOf(files.map(({ createdAt }) => createdAt))),
        group(
          "snapshotVersions",
          [...last.values()].map(({ classifier, extension, value, createdAt }) =>
            group("snapshotVersion", [
              ...(classifier === "" ? [] : [element("classifier", classifier)]),
              element("extension", extension),
              element("value", value),
              element("updated", lastOf([createdAt])),
            ]),
          ),
        ),
      ]),
    ],
    "1.1.0",
  );
}

const compareBuilds = (one: Build, other: Build): number =>
  one.buildNumber - other.buildNumber ||
  (one.timestamp < other.timestamp ? -1 : one.timestamp > other.timestamp ? 1 : 0);

/** Parts the name of a file: `{artifact}-{version}[-{classifier}].{extension}`. */
function parseBuild(
  { artifactId }: Artifact,
  version: string,
  { name, createdAt }: SnapshotFile,
): Build | undefined {
  const base = version.slice(0, -"SNAPSHOT".length);
  const start = `${artifactId}-${base}`;
  if (!name.startsWith(start)) return undefined;
  const match =
    /^(?:(\d{8}\.\d{6})-(\d{1,9})|SNAPSHOT)(?:-([^.]+))?\.(.+)$/.exec(name.slice(start.length)) ??
    undefined;
  if (!match) return undefined;
  const [, timestamp = "", buildNumber = "0", classifier = "", extension = ""] = match;
  const value = timestamp === "" ? version : `${base}${timestamp}-${buildNumber}`;
  return { value, timestamp, buildNumber: Number(buildNumber), classifier, extension, createdAt };
}

/** The latest of some times, in the form yyyyMMddHHmmss. */
const lastOf = (times: readonly number[]): string =>
  new Date(Math.max(0, ...times)).toISOString().replaceAll(/\D/g, "").slice(0, 14);

/** Lines of XML. */
type Lines = readonly string[];

const element = (name: string, text: string): Lines => [`<${name}>${escapeXml(text)}</${name}>`];

const group = (name: string, parts: readonly Lines[]): Lines => [
  `<${name}>`,
  ...parts.flat().map((line) => `  ${line}`),
  `</${name}>`,
];

const document = (parts: readonly Lines[], model?: string): string => {
  const attribute = model === undefined ? "" : ` modelVersion="${model}"`;
  const lines = parts.flat().map((line) => `  ${line}`);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<metadata${attribute}>`,
    ...lines,
    "</metadata>",
    "",
  ].join("\n");
};
