import { z } from "zod";

import { malformed } from "../../lib/failure.ts";
import { readYaml } from "../../lib/yaml.ts";
import { isGemVersion } from "./gem-version.ts";
import { isGemName, isPlatformName } from "./names.ts";
import { formatPlatform, parsePlatform, RUBY } from "./platform.ts";

/** An operator and a version, as in `~> 1.2`. */
export type GemRequirement = readonly [operator: string, version: string];

/** Another gem that a gem needs. */
export interface GemDependency {
  readonly name: string;
  readonly kind: "runtime" | "development";
  readonly requirements: readonly GemRequirement[];
}

/** The metadata of a gem. */
export interface GemSpec {
  readonly name: string;
  readonly number: string;
  /** `ruby`, or a system. */
  readonly platform: string;
  readonly summary: string;
  readonly description: string;
  readonly authors: readonly string[];
  readonly emails: readonly string[];
  readonly homepage: string;
  readonly licenses: readonly string[];
  /** Further links and settings, by name. */
  readonly links: Readonly<Record<string, string>>;
  readonly dependencies: readonly GemDependency[];
  readonly rubyVersions: readonly GemRequirement[];
  readonly rubygemsVersions: readonly GemRequirement[];
  readonly rubygemsVersion: string;
  /** The day of the release, in milliseconds. */
  readonly date: number;
}

const ALIASES_MAX = 1000;
const DEPENDENCIES_MAX = 1000;
const ANY: readonly GemRequirement[] = [[">=", "0"]];

// Values are texts, since the document is read without types.
const Text = z.union([z.string(), z.null()]).transform((text) => text ?? "");
const Version = z
  .object({ version: z.string() })
  .transform(({ version }) => version.trim())
  .refine(isGemVersion);
const Requirements = z
  .object({
    requirements: z
      .array(z.tuple([z.enum(["=", "!=", ">", "<", ">=", "<=", "~>"]), Version]))
      .min(1)
      .max(100),
  })
  .transform(({ requirements }): readonly GemRequirement[] => requirements);
const Texts = z
  .union([z.array(Text), Text])
  .transform((value) => (typeof value === "string" ? [value] : value).filter(Boolean));
const Platform = z
  .union([
    Text,
    z.object({ cpu: Text, os: Text, version: Text.optional() }).transform(platformOfParts),
  ])
  .transform((text) => text || RUBY)
  .refine(isPlatformName);
const Dependency = z.object({
  name: z.string().refine(isGemName),
  type: z.string().default(":runtime"),
  requirement: Requirements.optional(),
  // The name of the field before RubyGems 1.2.
  version_requirements: Requirements.optional(),
});
const Specification = z.object({
  name: z.string().refine(isGemName),
  version: Version,
  platform: Platform.default(RUBY),
  summary: Text.default(""),
  description: Text.default(""),
  authors: Texts.default([]),
  email: Texts.default([]),
  homepage: Text.default(""),
  licenses: Texts.default([]),
  metadata: z.record(z.string(), Text).default({}),
  dependencies: z.array(Dependency).max(DEPENDENCIES_MAX).default([]),
  required_ruby_version: Requirements.default(ANY),
  required_rubygems_version: Requirements.default(ANY),
  rubygems_version: Text.default(""),
  date: Text.default(""),
});

/**
 * Reads the specification in a gem, which is YAML with tags of Ruby's classes.
 *
 * SECURITY: tags create no objects, and aliases are expanded a bounded number of times.
 *
 * @throws Failure `malformed` for what is no specification, or has a name or version that RubyGems
 *   refuses.
 * @see https://guides.rubygems.org/specification-reference/
 */
export async function parseGemspec(text: string): Promise<GemSpec> {
  const read = Specification.safeParse(await readUntypedYaml(text));
  if (!read.success) {
    const [issue] = read.error.issues;
    throw malformed(`the specification of the gem is not valid: ${issue?.path.join(".")}`);
  }
  const { name, version, platform, summary, description, authors, homepage, licenses, ...rest } =
    read.data;
  return {
    name,
    number: version,
    platform: formatPlatform(parsePlatform(platform)),
    summary,
    description,
    authors,
    emails: rest.email,
    homepage,
    licenses,
    links: rest.metadata,
    dependencies: rest.dependencies.map(({ name: gem, type, ...either }) => ({
      name: gem,
      kind: type.replace(/^:/, "") === "development" ? "development" : "runtime",
      requirements: either.requirement ?? either.version_requirements ?? ANY,
    })),
    rubyVersions: rest.required_ruby_version,
    rubygemsVersions: rest.required_rubygems_version,
    rubygemsVersion: rest.rubygems_version,
    date: parseDay(rest.date),
  };
}

/**
 * Reads a document whose values are all texts, lists and maps. @returns Undefined for what is no
 * YAML.
 */
export const readUntypedYaml = (text: string): Promise<unknown> =>
  // Its errors are those of the text: also too deep, too long, or too many aliases.
  readYaml(text, "failsafe", ALIASES_MAX).catch(() => undefined);

/**
 * The day of a time such as `2024-05-01 00:00:00.000000000 Z`; that of the epoch if there is none.
 */
function parseDay(text: string): number {
  const day = /^\d{4}-\d{2}-\d{2}/.exec(text)?.[0];
  const time = day === undefined ? Number.NaN : Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(time) ? 0 : time;
}

/** The text of a platform that a specification of old gives by its parts. */
function platformOfParts({
  cpu,
  os,
  version,
}: Record<"cpu" | "os", string> & { version?: string | undefined }): string {
  return [cpu, os, version].filter(Boolean).join("-");
}
