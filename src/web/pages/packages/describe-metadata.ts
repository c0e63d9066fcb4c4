/** What a page shows of the metadata of a version. Texts are "" where there is none. */
export interface Description {
  readonly summary: string;
  readonly license: string;
  readonly website: string;
  readonly source: string;
  readonly author: string;
  readonly keywords: readonly string[];
  /** The packages that the version needs, each with its range of versions. */
  readonly dependencies: readonly string[];
}

/** Characters of a text that are shown: some formats put a whole document there. */
const TEXT_CHARS_MAX = 1000;
const KEYWORDS_MAX = 30;
const DEPENDENCIES_MAX = 100;

/**
 * Reads the metadata of a version by the names that the formats share, whatever format it is. They
 * come from publishers: nothing about their types is certain.
 */
export function describeMetadata(metadata: unknown): Description {
  // A chart has its manifest one level below.
  const fields = fieldsOf(fieldsOf(metadata)["chart"] ?? metadata);
  const first = (...names: string[]): string =>
    names.map((name) => textOf(fields[name])).find((text) => text !== "") ?? "";
  return {
    summary: first("summary", "description"),
    license: first("license_expression", "licenseExpression", "license", "licenses"),
    website: first("homepage", "home_page", "projectUrl", "home", "url"),
    source: first("repository", "repositoryUrl", "sources"),
    author: first("author", "authors", "maintainer", "maintainers"),
    keywords: listOf(fields["keywords"] ?? fields["tags"]).slice(0, KEYWORDS_MAX),
    dependencies: dependenciesOf(fields),
  };
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? { ...value } : {};

/** A text, the texts of a list, or the name or the address of an object. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value.trim().slice(0, TEXT_CHARS_MAX).toWellFormed();
  if (Array.isArray(value)) {
    return value
      .slice(0, KEYWORDS_MAX)
      .map(textOf)
      .filter((text) => text !== "")
      .join(", ");
  }
  const { name, url } = fieldsOf(value);
  return [name, url].find((each) => typeof each === "string")?.slice(0, TEXT_CHARS_MAX) ?? "";
}

const listOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value.map(textOf) : textOf(value).split(/[\s,]+/)).filter(
    (text) => text !== "",
  );

function dependenciesOf(fields: Readonly<Record<string, unknown>>): string[] {
  const groups = Array.isArray(fields["dependencyGroups"]) ? fields["dependencyGroups"] : [];
  const all = [
    fields["dependencies"] ?? fields["require"] ?? fields["requires_dist"],
    // A crate has its line of the index one level below.
    fieldsOf(fields["entry"])["deps"],
    ...groups.map((group) => fieldsOf(group)["dependencies"]),
  ];
  const found = new Set(all.flatMap(toDependencies));
  found.delete("");
  return [...found].slice(0, DEPENDENCIES_MAX);
}

/** A list of them, or ranges of versions by name. */
const toDependencies = (value: unknown): string[] =>
  Array.isArray(value)
    ? value.map(toDependency)
    : Object.entries(fieldsOf(value)).map(([name, range]) => toDependency({ name, range }));

/** "" for one that only the development or the tests of the package need. */
function toDependency(value: unknown): string {
  if (typeof value === "string") return textOf(value);
  const fields = fieldsOf(value);
  if (fields["kind"] === "dev" || fields["scope"] === "test") return "";
  const { groupId, artifactId } = fields;
  const name = fields["package"] ?? fields["name"] ?? fields["id"];
  const named = groupId === undefined ? name : `${textOf(groupId)}:${textOf(artifactId)}`;
  const range = fields["version"] ?? fields["req"] ?? fields["range"];
  return [named, range]
    .map(textOf)
    .filter((text) => text !== "")
    .join(" ");
}
