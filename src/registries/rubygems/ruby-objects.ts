import type { ByteText } from "../../git/byte-text.ts";
import { compareGemVersions, isPrerelease } from "./gem-version.ts";
import { formatMarshal, type MarshalValue } from "./marshal.ts";
import type { GemSlug } from "./names.ts";
import type { GemDependency, GemRequirement, GemSpec } from "./parse-gemspec.ts";
import { parsePlatform, RUBY } from "./platform.ts";

// Specifications and indexes as RubyGems keeps them: objects of its classes in Ruby's Marshal
// format.

/** The version of the form of `Gem::Specification`. */
const SPECIFICATION_VERSION = 4;

const versionObject = (version: string): MarshalValue => ({
  kind: "dumped",
  className: "Gem::Version",
  value: [version],
});

const requirementObject = (requirements: readonly GemRequirement[]): MarshalValue => ({
  kind: "dumped",
  className: "Gem::Requirement",
  value: [requirements.map(([operator, version]) => [operator, versionObject(version)])],
});

const dependencyObject = ({ name, kind, requirements }: GemDependency): MarshalValue => ({
  kind: "object",
  className: "Gem::Dependency",
  variables: {
    "@name": name,
    "@requirement": requirementObject(requirements),
    "@type": { kind: "symbol", name: kind },
    "@prerelease": requirements.some(([, version]) => isPrerelease(version)),
  },
});

function platformObject(text: string): MarshalValue {
  const platform = parsePlatform(text);
  if (!platform) return RUBY;
  const { cpu, os, version } = platform;
  return {
    kind: "object",
    className: "Gem::Platform",
    variables: { "@cpu": cpu, "@os": os, "@version": version },
  };
}

/**
 * A `Time`, to the second: its parts are packed into eight bytes. See `time_mdump` in Ruby's
 * time.c.
 */
function timeObject(time: number): MarshalValue {
  const date = new Date(time);
  const high =
    (1 << 30) |
    ((date.getUTCFullYear() - 1900) << 14) |
    (date.getUTCMonth() << 10) |
    (date.getUTCDate() << 5) |
    date.getUTCHours();
  const low = (date.getUTCMinutes() << 26) | (date.getUTCSeconds() << 20);
  const view = new DataView(new ArrayBuffer(8));
  // The highest bit marks this form, the next one UTC.
  view.setUint32(0, (high | (1 << 31)) >>> 0, true);
  view.setUint32(4, low >>> 0, true);
  const bytes = String.fromCharCode(...new Uint8Array(view.buffer)) as ByteText;
  return { kind: "bytes", className: "Time", bytes, variables: { zone: "UTC" } };
}

/** A specification as `Gem::Specification#_dump` writes it. */
export function formatGemspec(spec: GemSpec): ByteText {
  const bytes = formatMarshal([
    spec.rubygemsVersion || "3.0.0",
    SPECIFICATION_VERSION,
    spec.name,
    versionObject(spec.number),
    timeObject(spec.date),
    spec.summary,
    requirementObject(spec.rubyVersions),
    requirementObject(spec.rubygemsVersions),
    spec.platform,
    spec.dependencies.map(dependencyObject),
    // The project at RubyForge, which is no more.
    "",
    spec.emails.length === 1 ? (spec.emails[0] ?? "") : spec.emails,
    spec.authors,
    spec.description,
    spec.homepage,
    // Whether there is documentation.
    true,
    platformObject(spec.platform),
    spec.licenses,
    new Map(Object.entries(spec.links)),
  ]);
  return formatMarshal({ kind: "bytes", className: "Gem::Specification", bytes });
}

/** The kinds of indexes: all releases, the latest of each gem and platform, and all prereleases. */
export type SpecsKind = "specs" | "latest_specs" | "prerelease_specs";

/** An index: a list of names with versions and platforms. */
export function formatSpecs(gems: readonly GemSlug[], kind: SpecsKind): ByteText {
  const listed = gems.filter(
    ({ number }) => isPrerelease(number) === (kind === "prerelease_specs"),
  );
  const shown = kind === "latest_specs" ? latestOf(listed) : listed;
  return formatMarshal(
    shown.map(({ name, number, platform }) => [name, versionObject(number), platform]),
  );
}

function latestOf(gems: readonly GemSlug[]): GemSlug[] {
  const latest = new Map<string, GemSlug>();
  for (const gem of gems) {
    const key = `${gem.name} ${gem.platform}`;
    const known = latest.get(key);
    if (!known || compareGemVersions(gem.number, known.number) > 0) latest.set(key, gem);
  }
  return [...latest.values()];
}
