import { malformed } from "../../lib/failure.ts";
import { parseXml, type XmlElement } from "../../lib/xml.ts";
import { isPackageId } from "./names.ts";
import { type NugetVersion, parseNugetVersion } from "./nuget-version.ts";

/** A package that another one needs, in a range of versions as the manifest has it. */
interface NugetDependency {
  readonly id: string;
  readonly range: string;
}

/** The dependencies of a package under one framework. */
export interface DependencyGroup {
  /** "" for all frameworks. */
  readonly framework: string;
  readonly dependencies: readonly NugetDependency[];
}

/** The metadata of a package. Texts are "" where the manifest has none. */
export interface NugetMetadata {
  /** With its build metadata. */
  readonly fullVersion: string;
  readonly title: string;
  readonly authors: string;
  readonly owners: string;
  readonly description: string;
  readonly summary: string;
  readonly releaseNotes: string;
  readonly copyright: string;
  readonly language: string;
  readonly tags: string;
  readonly projectUrl: string;
  readonly iconUrl: string;
  readonly licenseUrl: string;
  readonly licenseExpression: string;
  readonly minClientVersion: string;
  readonly repositoryUrl: string;
  readonly needsAcceptance: boolean;
  readonly isDevelopmentDependency: boolean;
  readonly packageTypes: readonly string[];
  readonly dependencyGroups: readonly DependencyGroup[];
}

/** The manifest of a package. */
export interface Nuspec {
  readonly id: string;
  readonly version: NugetVersion;
  readonly metadata: NugetMetadata;
}

const RANGE =
  /^(?:[0-9A-Za-z.+*-]+|[[(]\s*(?:[0-9A-Za-z.+*-]+)?\s*(?:,\s*(?:[0-9A-Za-z.+*-]+)?\s*)?[\])])?$/;

/**
 * Reads the manifest of a package.
 *
 * @throws Failure `malformed` for what is no manifest, or has an id or version that NuGet refuses.
 * @see https://learn.microsoft.com/nuget/reference/nuspec
 */
export async function parseNuspec(bytes: Uint8Array): Promise<Nuspec> {
  const root = await parseXml(bytes);
  const metadata = root && nameOf(root) === "package" ? child(root, "metadata") : undefined;
  if (!metadata) throw malformed("the manifest of the package is not valid XML of its form");
  const text = (name: string): string => child(metadata, name)?.text ?? "";
  const id = text("id");
  const version = parseNugetVersion(text("version"));
  if (!isPackageId(id)) throw malformed("the manifest has no valid id");
  if (!version) throw malformed("the manifest has no valid version");
  const license = child(metadata, "license");
  const isExpression = license?.attributes["type"] === "expression";
  return {
    id,
    version,
    metadata: {
      fullVersion: version.full,
      title: text("title"),
      authors: text("authors"),
      owners: text("owners"),
      description: text("description"),
      summary: text("summary"),
      releaseNotes: text("releaseNotes"),
      copyright: text("copyright"),
      language: text("language"),
      tags: text("tags"),
      projectUrl: text("projectUrl"),
      iconUrl: text("iconUrl"),
      licenseUrl: text("licenseUrl"),
      licenseExpression: isExpression ? license.text : "",
      minClientVersion: metadata.attributes["minClientVersion"] ?? "",
      repositoryUrl: child(metadata, "repository")?.attributes["url"] ?? "",
      needsAcceptance: text("requireLicenseAcceptance") === "true",
      isDevelopmentDependency: text("developmentDependency") === "true",
      packageTypes: children(child(metadata, "packageTypes"), "packageType").flatMap(
        ({ attributes }) => attributes["name"] ?? [],
      ),
      dependencyGroups: readDependencies(child(metadata, "dependencies")),
    },
  };
}

function readDependencies(element: XmlElement | undefined): DependencyGroup[] {
  const groups = children(element, "group").map((group) => ({
    framework: group.attributes["targetFramework"] ?? "",
    dependencies: children(group, "dependency").map(toDependency),
  }));
  const common = children(element, "dependency").map(toDependency);
  return common.length > 0 ? [{ framework: "", dependencies: common }, ...groups] : groups;
}

function toDependency({ attributes }: XmlElement): NugetDependency {
  const { id = "", version: range = "" } = attributes;
  if (!isPackageId(id) || !RANGE.test(range)) {
    throw malformed("the manifest has a dependency without a valid id or range of versions");
  }
  return { id, range };
}

// Manifests are of several namespaces, and some have a prefix.
const nameOf = ({ name }: XmlElement): string => name.replace(/^.*:/, "");
const children = (element: XmlElement | undefined, name: string): XmlElement[] =>
  element?.children.filter((each) => nameOf(each) === name) ?? [];
const child = (element: XmlElement | undefined, name: string): XmlElement | undefined =>
  children(element, name)[0];
