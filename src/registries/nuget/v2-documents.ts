import { Buffer } from "node:buffer";

import { escapeXml } from "../../lib/xml.ts";
import type { Listing, StoredNupkg } from "./listings.ts";
import { isNugetPrerelease } from "./nuget-version.ts";
import { contentUrl } from "./v3-documents.ts";
import type { ODataEntry } from "./odata-filter.ts";

// The documents of NuGet's protocol, version 2: OData in Atom.

const HEAD = '<?xml version="1.0" encoding="utf-8"?>\n';
const NAMESPACES =
  'xmlns="http://www.w3.org/2005/Atom" ' +
  'xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices" ' +
  'xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"';
const SCHEME = "http://schemas.microsoft.com/ado/2007/08/dataservices/scheme";
const ENTITY = "NuGetGallery.V2FeedPackage";

/** The service document, which names the one collection. */
export const formatService = (base: string): string =>
  `${HEAD}<service xmlns="http://www.w3.org/2007/app" xmlns:atom="http://www.w3.org/2005/Atom"` +
  ` xml:base="${escapeXml(base)}"><workspace><atom:title>Default</atom:title>` +
  `<collection href="Packages"><atom:title>Packages</atom:title></collection></workspace></service>`;

type EdmType = "String" | "DateTime" | "Int32" | "Int64" | "Boolean";

/** The properties of an entry, with their types. */
const PROPERTIES: readonly (readonly [name: string, type: EdmType])[] = [
  ["Id", "String"],
  ["Version", "String"],
  ["NormalizedVersion", "String"],
  ["Authors", "String"],
  ["Copyright", "String"],
  ["Created", "DateTime"],
  ["Dependencies", "String"],
  ["Description", "String"],
  ["DownloadCount", "Int32"],
  ["IconUrl", "String"],
  ["IsLatestVersion", "Boolean"],
  ["IsAbsoluteLatestVersion", "Boolean"],
  ["IsPrerelease", "Boolean"],
  ["Language", "String"],
  ["LastUpdated", "DateTime"],
  ["LicenseUrl", "String"],
  ["Listed", "Boolean"],
  ["MinClientVersion", "String"],
  ["PackageHash", "String"],
  ["PackageHashAlgorithm", "String"],
  ["PackageSize", "Int64"],
  ["ProjectUrl", "String"],
  ["Published", "DateTime"],
  ["ReleaseNotes", "String"],
  ["RequireLicenseAcceptance", "Boolean"],
  ["Summary", "String"],
  ["Tags", "String"],
  ["Title", "String"],
  ["VersionDownloadCount", "Int32"],
];

/** The description of the entries. */
export function formatSchema(): string {
  const properties = PROPERTIES.map(
    ([name, type]) =>
      `<Property Name="${name}" Type="Edm.${type}" Nullable="${isKey(name) ? "false" : "true"}"/>`,
  );
  const imports = ["FindPackagesById", "Search"].map(
    (name) =>
      `<FunctionImport Name="${name}" ReturnType="Collection(${ENTITY})" EntitySet="Packages"` +
      ` m:HttpMethod="GET">${formatParameters(name)}</FunctionImport>`,
  );
  return (
    `${HEAD}<edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">` +
    `<edmx:DataServices m:DataServiceVersion="2.0" m:MaxDataServiceVersion="2.0"` +
    ` xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">` +
    `<Schema Namespace="NuGetGallery" xmlns="http://schemas.microsoft.com/ado/2006/04/edm">` +
    `<EntityType Name="V2FeedPackage" m:HasStream="true"><Key><PropertyRef Name="Id"/>` +
    `<PropertyRef Name="Version"/></Key>${properties.join("")}</EntityType>` +
    `<EntityContainer Name="V2FeedContext" m:IsDefaultEntityContainer="true">` +
    `<EntitySet Name="Packages" EntityType="${ENTITY}"/>${imports.join("")}` +
    `</EntityContainer></Schema></edmx:DataServices></edmx:Edmx>`
  );
}

const isKey = (name: string): boolean => name === "Id" || name === "Version";

/** The parameters of a function; clients learn from them what they may ask. */
const formatParameters = (name: string): string =>
  (name === "Search"
    ? [
        ["searchTerm", "String"],
        ["targetFramework", "String"],
        ["includePrerelease", "Boolean"],
      ]
    : [["id", "String"]]
  )
    .map(([parameter, type]) => `<Parameter Name="${parameter}" Type="Edm.${type}"/>`)
    .join("");

/** The properties of a listing that a filter and an order may name. */
export const toFilterEntry = (listing: Listing): ODataEntry => ({
  Id: listing.name,
  Version: listing.version.normalized,
  NormalizedVersion: listing.version.normalized,
  Title: listing.title || listing.name,
  Tags: listing.tags,
  IsLatestVersion: listing.isLatest,
  IsAbsoluteLatestVersion: listing.isAbsoluteLatest,
  IsPrerelease: isNugetPrerelease(listing.version),
  Listed: true,
  DownloadCount: listing.downloadCount,
  Created: listing.createdAt,
  Published: listing.createdAt,
  LastUpdated: listing.createdAt,
});

export const FILTER_PROPERTIES: ReadonlySet<string> = new Set([
  "Id",
  "Version",
  "NormalizedVersion",
  "Title",
  "Tags",
  "IsLatestVersion",
  "IsAbsoluteLatestVersion",
  "IsPrerelease",
  "Listed",
  "DownloadCount",
  "Created",
  "Published",
  "LastUpdated",
]);

/** A version as an entry is made of. */
export type V2Entry = readonly [listing: Listing, stored: StoredNupkg];

/** A list of entries. */
export interface V2Feed {
  /** Its path below the registry. */
  readonly path: string;
  readonly entries: readonly V2Entry[];
  /** Number of all that match, where the client asked for it. */
  readonly total: number | undefined;
  /** The URL of the next page, if there is one. */
  readonly next: string | undefined;
}

export const formatFeed = (base: string, { path, entries, total, next }: V2Feed): string =>
  `${HEAD}<feed xml:base="${escapeXml(base)}/" ${NAMESPACES}>` +
  (total === undefined ? "" : `<m:count>${total}</m:count>`) +
  `<id>${escapeXml(`${base}/${path}`)}</id><title type="text">Packages</title>` +
  // SECURITY: by the shown packages alone; the time of the registry would reveal hidden packages.
  `<updated>${new Date(Math.max(0, ...entries.map(([{ createdAt }]) => createdAt))).toISOString()}</updated>` +
  `<link rel="self" title="Packages" href="Packages"/>` +
  entries.map((entry) => formatEntryBody(base, entry, "")).join("") +
  (next === undefined ? "" : `<link rel="next" href="${escapeXml(next)}"/>`) +
  `</feed>`;

export const formatEntry = (base: string, entry: V2Entry): string =>
  HEAD + formatEntryBody(base, entry, ` xml:base="${escapeXml(base)}/" ${NAMESPACES}`);

function formatEntryBody(base: string, [listing, stored]: V2Entry, attributes: string): string {
  const { id, version, metadata, row } = stored;
  const path = `Packages(Id='${id}',Version='${version.normalized}')`;
  const values = toProperties(listing, stored);
  const properties = PROPERTIES.map(([name, type]) => {
    const value = values[name] ?? "";
    const typed = type === "String" ? "" : ` m:type="Edm.${type}"`;
    const isNull = value === "" && type === "String" ? ' m:null="true"' : "";
    return `<d:${name}${typed}${isNull}>${escapeXml(String(value))}</d:${name}>`;
  });
  return (
    `<entry${attributes}><id>${escapeXml(`${base}/${path}`)}</id>` +
    `<category term="${ENTITY}" scheme="${SCHEME}"/>` +
    `<link rel="edit" title="V2FeedPackage" href="${escapeXml(path)}"/>` +
    `<title type="text">${escapeXml(id)}</title>` +
    `<summary type="text">${escapeXml(metadata.summary)}</summary>` +
    `<updated>${new Date(row.createdAt).toISOString()}</updated>` +
    `<author><name>${escapeXml(metadata.authors)}</name></author>` +
    `<content type="application/zip" src="${escapeXml(contentUrl(base, id, version))}"/>` +
    `<m:properties>${properties.join("")}</m:properties></entry>`
  );
}

function toProperties(
  { isLatest, isAbsoluteLatest }: Listing,
  { id, version, metadata, row, sizeBytes, sha512 }: StoredNupkg,
): Record<string, string | number | boolean> {
  const time = new Date(row.createdAt).toISOString().replace(/Z$/, "");
  const dependencies = metadata.dependencyGroups.flatMap(({ framework, dependencies: list }) =>
    list.length === 0
      ? [`::${framework}`]
      : list.map(({ id: name, range }) => `${name}:${range}:${framework}`),
  );
  return {
    Id: id,
    Version: metadata.fullVersion,
    NormalizedVersion: version.normalized,
    Authors: metadata.authors,
    Copyright: metadata.copyright,
    Created: time,
    Dependencies: dependencies.join("|"),
    Description: metadata.description,
    DownloadCount: row.downloadCount,
    IconUrl: metadata.iconUrl,
    IsLatestVersion: isLatest,
    IsAbsoluteLatestVersion: isAbsoluteLatest,
    IsPrerelease: isNugetPrerelease(version),
    Language: metadata.language,
    LastUpdated: time,
    LicenseUrl: metadata.licenseUrl,
    Listed: true,
    MinClientVersion: metadata.minClientVersion,
    PackageHash: Buffer.from(sha512, "hex").toString("base64"),
    PackageHashAlgorithm: "SHA512",
    PackageSize: sizeBytes,
    ProjectUrl: metadata.projectUrl,
    Published: time,
    ReleaseNotes: metadata.releaseNotes,
    RequireLicenseAcceptance: metadata.needsAcceptance,
    Summary: metadata.summary,
    Tags: metadata.tags,
    Title: metadata.title || id,
    VersionDownloadCount: row.downloadCount,
  };
}
