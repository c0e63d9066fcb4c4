import type { DetailedVersion, Listing, StoredNupkg } from "./listings.ts";
import { pathOf, typesOf } from "./listings.ts";
import { nugetVersionKey, type NugetVersion } from "./nuget-version.ts";
import { nupkgKey } from "./names.ts";
import type { DependencyGroup } from "./parse-nuspec.ts";

// The JSON documents of NuGet's protocol, version 3. See
// https://learn.microsoft.com/nuget/api/overview

/** Versions on a page of a registration. */
const PAGE_SIZE = 64;
/** Registrations with more versions have their pages in documents of their own. */
const INLINE_MAX = 128;

/** The resources of a registry: paths below its URL by their types. */
const RESOURCES: readonly (readonly [path: string, ...types: string[]])[] = [
  ["query", ...versionsOf("SearchQueryService", ["", "3.0.0-beta", "3.0.0-rc", "3.5.0"])],
  [
    "autocomplete",
    ...versionsOf("SearchAutocompleteService", ["", "3.0.0-beta", "3.0.0-rc", "3.5.0"]),
  ],
  [
    "registration/",
    ...versionsOf("RegistrationsBaseUrl", ["", "3.0.0-beta", "3.0.0-rc", "3.4.0", "3.6.0"]),
  ],
  ["package/", "PackageBaseAddress/3.0.0"],
  // Some clients list packages by version 2 of the protocol, which is at the URL of the registry.
  ["", "PackagePublish/2.0.0", ...versionsOf("LegacyGallery", ["", "2.0.0"])],
  ["symbolpackage", "SymbolPackagePublish/4.9.0"],
];

function versionsOf(type: string, versions: readonly string[]): string[] {
  return versions.map((version) => (version === "" ? type : `${type}/${version}`));
}

/**
 * The service index, where clients begin. @param base The URL of the registry, without a slash at
 * its end.
 */
export const toServiceIndex = (base: string) => ({
  version: "3.0.0",
  resources: RESOURCES.flatMap(([path, ...types]) =>
    types.map((type) => ({ "@id": path === "" ? base : `${base}/${path}`, "@type": type })),
  ),
});

const registrationUrl = (base: string, id: string): string =>
  `${base}/registration/${id.toLowerCase()}/index.json`;

const leafUrl = (base: string, id: string, version: NugetVersion): string =>
  `${base}/registration/${pathOf(id, version)}.json`;

/** The URL of the file of a package. */
export const contentUrl = (base: string, id: string, version: NugetVersion): string =>
  `${base}/package/${pathOf(id, version)}/${nupkgKey(id, version)}`;

/** The metadata of all versions of a package. @param versions Oldest first, at least one. */
export function toRegistration(base: string, id: string, versions: readonly DetailedVersion[]) {
  const pages = pagesOf(versions);
  return {
    "@id": registrationUrl(base, id),
    "@type": ["catalog:CatalogRoot", "PackageRegistration", "catalog:Permalink"],
    count: pages.length,
    items: pages.map((page) =>
      versions.length > INLINE_MAX ? toPageHead(base, id, page) : toPage(base, id, page),
    ),
  };
}

/**
 * A page of a registration, by its first and last version. @returns Undefined if there is no such
 * page.
 */
export function findPage(
  base: string,
  id: string,
  versions: readonly DetailedVersion[],
  [lower, upper]: readonly [NugetVersion, NugetVersion],
) {
  const page = pagesOf(versions).find(
    (each) =>
      keyAt(each, 0) === nugetVersionKey(lower) && keyAt(each, -1) === nugetVersionKey(upper),
  );
  return page && toPage(base, id, page);
}

const keyAt = (page: readonly DetailedVersion[], at: number): string | undefined => {
  const found = page.at(at);
  return found && nugetVersionKey(found.version);
};

function pagesOf(versions: readonly DetailedVersion[]): DetailedVersion[][] {
  const pages: DetailedVersion[][] = [];
  for (let at = 0; at < versions.length; at += PAGE_SIZE) {
    pages.push(versions.slice(at, at + PAGE_SIZE));
  }
  return pages;
}

const toPage = (base: string, id: string, page: readonly DetailedVersion[]) => ({
  ...toPageHead(base, id, page),
  items: page.map((version) => toPageItem(base, version)),
});

/** A page without its versions. */
function toPageHead(base: string, id: string, page: readonly DetailedVersion[]) {
  const [lower, upper] = [page[0]?.version.normalized, page.at(-1)?.version.normalized];
  const folder = `${base}/registration/${id.toLowerCase()}`;
  return {
    "@id": `${folder}/page/${lower?.toLowerCase()}/${upper?.toLowerCase()}.json`,
    "@type": "catalog:CatalogPage",
    count: page.length,
    parent: registrationUrl(base, id),
    lower,
    upper,
  };
}

function toPageItem(base: string, detailed: DetailedVersion) {
  const { id, row, version, metadata } = detailed;
  return {
    "@id": leafUrl(base, id, version),
    "@type": "Package",
    packageContent: contentUrl(base, id, version),
    registration: registrationUrl(base, id),
    catalogEntry: {
      "@id": leafUrl(base, id, version),
      "@type": "PackageDetails",
      id,
      version: metadata.fullVersion,
      ...toDescription(detailed),
      listed: true,
      minClientVersion: metadata.minClientVersion,
      language: metadata.language,
      packageContent: contentUrl(base, id, version),
      published: new Date(row.createdAt).toISOString(),
      requireLicenseAcceptance: metadata.needsAcceptance,
      dependencyGroups: metadata.dependencyGroups.map((group) => toGroup(base, group)),
    },
  };
}

const toDescription = ({ id, metadata }: Pick<DetailedVersion, "id" | "metadata">) => ({
  title: metadata.title || id,
  authors: metadata.authors,
  description: metadata.description,
  summary: metadata.summary,
  iconUrl: metadata.iconUrl,
  licenseUrl: metadata.licenseUrl,
  licenseExpression: metadata.licenseExpression,
  projectUrl: metadata.projectUrl,
  tags: splitWords(metadata.tags),
});

const splitWords = (text: string): string[] => text.split(/[\s,;]+/).filter(Boolean);

const toGroup = (base: string, { framework, dependencies }: DependencyGroup) => ({
  "@type": "PackageDependencyGroup",
  ...(framework !== "" && { targetFramework: framework }),
  dependencies: dependencies.map(({ id, range }) => ({
    "@type": "PackageDependency",
    id,
    range: normalizeRange(range),
    registration: registrationUrl(base, id),
  })),
});

/** A range of versions with its bounds: `1.0` is `[1.0, )`, `[1.0]` is `[1.0, 1.0]`. */
export function normalizeRange(range: string): string {
  const text = range.trim();
  if (text === "") return "(, )";
  const [, open, lower = "", comma, upper = "", close] =
    /^([[(])\s*([^\s,\])]*)\s*(,)?\s*([^\s,\])]*)\s*([\])])$/.exec(text) ?? [];
  if (open === undefined) return `[${text}, )`;
  return `${open}${lower}, ${comma === undefined ? lower : upper}${close}`;
}

/** The document of one version. */
export const toLeaf = (base: string, { id, row, version }: DetailedVersion) => ({
  "@id": leafUrl(base, id, version),
  "@type": ["Package", "http://schema.nuget.org/catalog#Permalink"],
  catalogEntry: leafUrl(base, id, version),
  listed: true,
  packageContent: contentUrl(base, id, version),
  published: new Date(row.createdAt).toISOString(),
  registration: registrationUrl(base, id),
});

/** A package that a search found. */
export interface NugetSearchHit {
  /** The newest version that the client asked for. */
  readonly newest: StoredNupkg;
  /** All of these versions, newest first. */
  readonly versions: readonly Listing[];
  readonly owner: string;
}

export const toSearchResult = (base: string, { newest, versions, owner }: NugetSearchHit) => {
  const { id, metadata } = newest;
  return {
    "@id": registrationUrl(base, id),
    "@type": "Package",
    registration: registrationUrl(base, id),
    id,
    version: metadata.fullVersion,
    ...toDescription(newest),
    authors: metadata.authors.split(",").map((author) => author.trim()),
    owners: [owner],
    totalDownloads: versions.reduce((total, { downloadCount }) => total + downloadCount, 0),
    verified: false,
    packageTypes: typesOf(metadata).map((name) => ({ name })),
    versions: versions.toReversed().map(({ name, version, downloadCount }) => ({
      "@id": leafUrl(base, name, version),
      version: version.normalized,
      downloads: downloadCount,
    })),
  };
};
