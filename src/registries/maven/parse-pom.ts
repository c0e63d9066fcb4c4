import { childOf, childrenOf, parseXml, textOf, type XmlElement } from "../../lib/xml.ts";

/** The project object model of an artifact, as metadata of a version. */
export interface Pom {
  readonly groupId: string;
  readonly artifactId: string;
  readonly version: string;
  readonly packaging: string;
  readonly name: string;
  readonly description: string;
  readonly url: string;
  readonly licenses: readonly string[];
  readonly dependencies: readonly PomDependency[];
}

interface PomDependency {
  readonly groupId: string;
  readonly artifactId: string;
  /** "" where the parent or a list of versions has it. */
  readonly version: string;
  readonly scope: string;
}

/**
 * Parses a POM. What it leaves to its parent is taken from there as far as the POM repeats it;
 * expressions such as `${revision}` stay as they are.
 *
 * @returns Undefined for anything else than a POM with an artifact id.
 * @see https://maven.apache.org/pom.html
 */
export async function parsePom(bytes: Uint8Array): Promise<Pom | undefined> {
  const project = await parseXml(bytes);
  if (project?.name !== "project" || textOf(project, "artifactId") === "") return undefined;
  const parent = childOf(project, "parent");
  return {
    groupId: textOf(project, "groupId") || textOf(parent, "groupId"),
    artifactId: textOf(project, "artifactId"),
    version: textOf(project, "version") || textOf(parent, "version"),
    packaging: textOf(project, "packaging") || "jar",
    name: textOf(project, "name"),
    description: textOf(project, "description"),
    url: textOf(project, "url"),
    licenses: childrenOf(childOf(project, "licenses"), "license")
      .map((license) => textOf(license, "name"))
      .filter((name) => name !== ""),
    dependencies: childrenOf(childOf(project, "dependencies"), "dependency").map(toDependency),
  };
}

const toDependency = (dependency: XmlElement): PomDependency => ({
  groupId: textOf(dependency, "groupId"),
  artifactId: textOf(dependency, "artifactId"),
  version: textOf(dependency, "version"),
  scope: textOf(dependency, "scope") || "compile",
});

/** A plugin as the metadata of its group lists it. */
export interface PluginEntry {
  readonly name: string;
  readonly prefix: string;
  readonly artifactId: string;
}

/** The plugins in the metadata of a group; undefined if the bytes are no metadata. */
export async function parsePlugins(bytes: Uint8Array): Promise<PluginEntry[] | undefined> {
  const metadata = await parseXml(bytes);
  if (metadata?.name !== "metadata") return undefined;
  return childrenOf(childOf(metadata, "plugins"), "plugin").map((plugin) => ({
    name: textOf(plugin, "name"),
    prefix: textOf(plugin, "prefix"),
    artifactId: textOf(plugin, "artifactId"),
  }));
}
