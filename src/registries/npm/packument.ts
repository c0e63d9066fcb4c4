import rcompare from "semver/functions/rcompare.js";
import prerelease from "semver/functions/prerelease.js";

import type { Manifest } from "./manifest.ts";
import { LATEST, unscoped } from "./names.ts";

/** A version of a package, as it is stored. */
interface StoredVersion {
  readonly version: string;
  readonly manifest: Manifest;
  readonly createdAt: number;
}

/** A dist-tag. One without a version is `latest` after its owner has deleted it. */
export interface StoredTag {
  readonly tag: string;
  readonly version: string | null;
}

/** A package with all of its versions, oldest first. */
export interface StoredPackage {
  readonly name: string;
  /** As `formatRevision` writes it. */
  readonly revision: string;
  readonly createdAt: number;
  readonly versions: readonly StoredVersion[];
  readonly tags: readonly StoredTag[];
  /** The readme of the latest version. */
  readonly readme: string | null;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * The fields of a version that installing needs. @see the `Manifest` of `StoredVersion`,
 * "abbreviated version object".
 */
export const ABBREVIATED = [
  "name",
  "version",
  "deprecated",
  "dependencies",
  "optionalDependencies",
  "devDependencies",
  "bundleDependencies",
  "bundledDependencies",
  "peerDependencies",
  "peerDependenciesMeta",
  "acceptDependencies",
  "bin",
  "directories",
  "dist",
  "engines",
  "os",
  "cpu",
  "libc",
  "funding",
  "_hasShrinkwrap",
  "scripts",
] as const;

/** The fields that a package takes from its latest version. */
const FROM_LATEST = [
  "description",
  "readmeFilename",
  "maintainers",
  "contributors",
  "author",
  "homepage",
  "bugs",
  "repository",
  "keywords",
  "license",
] as const;

/** The scripts that run when a package is installed. */
const INSTALL_SCRIPTS = ["preinstall", "install", "postinstall"];

/**
 * The tags of a package, each with its version. Where `latest` was never set, or went with its
 * version, it is the highest version: one that is neither deprecated nor a prerelease, if there is
 * one.
 */
export function resolveTags(
  tags: readonly StoredTag[],
  versions: readonly { readonly version: string; readonly isDeprecated: boolean }[],
): Record<string, string> {
  const known = tags.flatMap(({ tag, version }) => (version === null ? [] : [[tag, version]]));
  const highest = tags.some(({ tag }) => tag === LATEST) ? undefined : findHighest(versions);
  return Object.fromEntries([...(highest === undefined ? [] : [[LATEST, highest]]), ...known]);
}

function findHighest(
  versions: readonly { readonly version: string; readonly isDeprecated: boolean }[],
): string | undefined {
  const sorted = versions.toSorted((a, b) => rcompare(a.version, b.version));
  const stable = sorted.filter(({ version }) => prerelease(version) === null);
  const best = stable.find(({ isDeprecated }) => !isDeprecated) ?? stable[0] ?? sorted[0];
  return best?.version;
}

const tagsOf = ({ tags, versions }: StoredPackage): Record<string, string> =>
  resolveTags(
    tags,
    versions.map(({ version, manifest }) => ({
      version,
      isDeprecated: manifest.deprecated !== undefined,
    })),
  );

/** Makes the document of a package. @param baseUrl The registry's, without a slash at its end. */
export function formatPackument(stored: StoredPackage, baseUrl: string): string {
  const { name, revision, versions, readme, createdAt } = stored;
  const tags = tagsOf(stored);
  const latest = versions.find(({ version }) => version === tags[LATEST]) ?? versions.at(-1);
  const times = versions.map(({ version, createdAt: at }) => [version, formatTime(at)]);
  return JSON.stringify({
    _id: name,
    _rev: revision,
    name,
    "dist-tags": tags,
    versions: Object.fromEntries(
      versions.map(({ version, manifest }) => [version, formatVersion(name, manifest, baseUrl)]),
    ),
    time: {
      created: formatTime(createdAt),
      modified: formatTime(modifiedAt(stored)),
      ...Object.fromEntries(times),
    },
    ...pick(latest?.manifest ?? {}, FROM_LATEST),
    readme: readme ?? "",
  });
}

/** Makes the document that installing needs. */
export function formatAbbreviated(stored: StoredPackage, baseUrl: string): string {
  const { name, versions } = stored;
  return JSON.stringify({
    name,
    modified: formatTime(modifiedAt(stored)),
    "dist-tags": tagsOf(stored),
    versions: Object.fromEntries(
      versions.map(({ version, manifest }) => {
        const { scripts, ...fields } = pick(formatVersion(name, manifest, baseUrl), ABBREVIATED);
        return [version, { ...fields, ...(hasInstallScript(scripts) && HAS_INSTALL_SCRIPT) }];
      }),
    ),
  });
}

const HAS_INSTALL_SCRIPT = { hasInstallScript: true };

const hasInstallScript = (scripts: unknown): boolean =>
  typeof scripts === "object" &&
  scripts !== null &&
  INSTALL_SCRIPTS.some((name) => Object.hasOwn(scripts, name));

/** The document of a version: what its publisher sent, with the address of its tarball. */
export function formatVersion(name: string, manifest: Manifest, baseUrl: string): Fields {
  const { version, dist } = manifest;
  const { attestations, ...others } = dist;
  const file = `${unscoped(name)}-${version}.tgz`;
  const path = encodeURIComponent(name);
  return {
    ...manifest,
    dist: {
      ...others,
      tarball: `${baseUrl}/${path}/-/${encodeURIComponent(version)}/${encodeURIComponent(file)}`,
      ...(attestations && {
        attestations: {
          url: `${baseUrl}/-/npm/v1/attestations/${path}@${encodeURIComponent(version)}`,
          ...attestations,
        },
      }),
    },
  };
}

const modifiedAt = ({ createdAt, versions }: StoredPackage): number =>
  versions.at(-1)?.createdAt ?? createdAt;

const formatTime = (at: number): string => new Date(at).toISOString();

const pick = (fields: Fields, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(names.flatMap((name) => (name in fields ? [[name, fields[name]]] : [])));
