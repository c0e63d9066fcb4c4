import type { ComposerPackage } from "./parse-package.ts";

/** A version of a package with its archive. */
export interface ComposerVersion {
  readonly version: string;
  readonly normalized: string;
  readonly metadata: ComposerPackage;
  readonly createdAt: number;
  /** SHA-1 of the archive, in hex. */
  readonly sha1: string;
  readonly url: string;
}

type Entry = Readonly<Record<string, unknown>>;

/** Marks a key of a minified list that the version before has and this one has not. */
const UNSET = "__unset";

/**
 * The versions of a package in Composer's minified form: each lists what differs from the one
 * before.
 *
 * @see
 *   https://getcomposer.org/doc/05-repositories.md#metadata-url-available-packages-and-available-package-patterns
 */
export function formatComposerVersions(name: string, versions: readonly ComposerVersion[]): string {
  const entries = versions.map(toEntry);
  const minified = entries.map((entry, at) => differenceOf(entries[at - 1] ?? {}, entry));
  return JSON.stringify({ minified: "composer/2.0", packages: { [name]: minified } });
}

const toEntry = (version: ComposerVersion): Entry => ({
  ...version.metadata,
  type: version.metadata.type ?? "library",
  version: version.version,
  version_normalized: version.normalized,
  time: new Date(version.createdAt).toISOString(),
  dist: { type: "zip", url: version.url, reference: version.sha1, shasum: version.sha1 },
});

function differenceOf(before: Entry, entry: Entry): Entry {
  const changed = Object.entries(entry).filter(
    ([key, value]) => JSON.stringify(value) !== JSON.stringify(before[key]),
  );
  const gone = Object.keys(before).filter((key) => !(key in entry));
  return Object.fromEntries([...changed, ...gone.map((key) => [key, UNSET])]);
}
