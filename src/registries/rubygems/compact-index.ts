import { createHash } from "node:crypto";

import { formatGemSlug, type GemSlug } from "./names.ts";
import type { GemRequirement, GemSpec } from "./parse-gemspec.ts";

// The indexes that Bundler and `gem install` read. Each begins with a line `---`, and versions are
// in the order in which they were published, so that a publication only appends lines: clients then
// ask for the new bytes alone.
//
// See https://guides.rubygems.org/rubygems-org-compact-index-api/

const START = "---\n";

/** A published file of a gem, as far as the indexes show it. */
export interface IndexedGem extends GemSlug {
  /** Its line in the index of its gem. */
  readonly line: string;
}

/** The line of a version in the index of its gem: `1.0.0 rack:>= 2|checksum:…,ruby:>= 3`. */
export function formatInfoLine(spec: GemSpec, sha256: string): string {
  const needs = spec.dependencies
    .filter(({ kind }) => kind === "runtime")
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, requirements }) => `${name}:${formatRequirements(requirements, "&")}`);
  const facts = [`checksum:${sha256}`];
  const ruby = formatRequirements(spec.rubyVersions, "&");
  const rubygems = formatRequirements(spec.rubygemsVersions, "&");
  if (ruby !== ANY) facts.push(`ruby:${ruby}`);
  if (rubygems !== ANY) facts.push(`rubygems:${rubygems}`);
  return `${formatGemSlug(spec)} ${needs.join(",")}|${facts.join(",")}`;
}

const ANY = ">= 0";

/** Requirements as `>= 1&< 3`. */
export const formatRequirements = (
  requirements: readonly GemRequirement[],
  separator: string,
): string => requirements.map(([operator, version]) => `${operator} ${version}`).join(separator);

/** The index of one gem. */
export const formatInfo = (gems: readonly IndexedGem[]): string =>
  START + gems.map(({ line }) => `${line}\n`).join("");

export const formatNames = (names: Iterable<string>): string =>
  START + [...names].map((name) => `${name}\n`).join("");

/**
 * The index of all versions: a line for each, with the MD5 that the index of its gem had when the
 * version was new. Of the lines of a gem the last one counts.
 *
 * @param gems In the order of their publication.
 */
export function formatGemVersions(gems: readonly IndexedGem[]): string {
  const infos = new Map<string, ReturnType<typeof createHash>>();
  const lines = gems.map((gem) => {
    const info = infos.get(gem.name) ?? createHash("md5").update(START);
    infos.set(gem.name, info.update(`${gem.line}\n`));
    return `${gem.name} ${formatGemSlug(gem)} ${info.copy().digest("hex")}\n`;
  });
  return START + lines.join("");
}
