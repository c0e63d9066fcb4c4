import { z } from "zod";

import { boundedList, boundedRecord } from "../../lib/bounded.ts";
import { malformed } from "../../lib/failure.ts";
import { isCrateName, isRequirement } from "./names.ts";

const FEATURE = /^[\p{XID_Start}\d_][\p{XID_Continue}+.-]*$/u;
/** A feature of this crate, `dep:name`, `name/feature` or `name?/feature`. */
const FEATURE_VALUE =
  /^(?:dep:)?[\p{XID_Start}\d_][\p{XID_Continue}+.-]*(?:\??\/[\p{XID_Continue}+.-]+)?$/u;

const Text = z.string().max(2048);
const OptionalText = Text.nullish();
const CrateName = z.string().refine(isCrateName);
const Feature = z.string().max(64).regex(FEATURE);

const Dependency = z.object({
  name: CrateName,
  version_req: z.string().refine(isRequirement),
  features: boundedList(z.string().max(130), 300).default([]),
  optional: z.boolean().default(false),
  default_features: z.boolean().default(true),
  target: OptionalText,
  kind: z.enum(["normal", "build", "dev"]).default("normal"),
  registry: OptionalText,
  explicit_name_in_toml: CrateName.nullish(),
});

const FEATURES_MAX = 300;
const FeatureValues = boundedList(z.string().max(130).regex(FEATURE_VALUE), FEATURES_MAX);
const Features = boundedRecord(FeatureValues, FEATURES_MAX, Feature);

/** The metadata that cargo sends. Fields that no document shows are ignored. */
const PublishedCrate = z.object({
  name: z.string(),
  vers: z.string(),
  deps: boundedList(Dependency, 1000).default([]),
  features: Features.default({}),
  description: OptionalText,
  documentation: OptionalText,
  homepage: OptionalText,
  repository: OptionalText,
  keywords: boundedList(Text, 100).default([]),
  categories: boundedList(Text, 100).default([]),
  license: OptionalText,
  links: OptionalText,
  rust_version: z
    .string()
    .regex(/^\d{1,9}(?:\.\d{1,9}){0,2}$/)
    .nullish(),
});
export type PublishedCrate = z.infer<typeof PublishedCrate>;

/**
 * Parses the JSON of a publish request.
 *
 * @throws Failure `malformed` that names the first field that breaks its rule.
 * @see "Registry Web API" of the Cargo Book, "Publish".
 */
export function parsePublishedCrate(json: unknown): PublishedCrate {
  const { data, error } = PublishedCrate.safeParse(json);
  if (data) return data;
  const path = error.issues[0]?.path.map(String).join(".") ?? "";
  throw malformed(`the metadata of the crate are invalid${path === "" ? "" : `: ${path}`}`);
}

/** The stored metadata of a version. */
export interface CrateMetadata {
  readonly entry: Omit<IndexEntry, "cksum" | "yanked">;
  readonly description: string;
  readonly documentation: string;
  readonly homepage: string;
  readonly repository: string;
  readonly license: string;
  readonly keywords: readonly string[];
  readonly categories: readonly string[];
}

/** A line of a crate's file in the index. */
interface IndexEntry {
  readonly name: string;
  readonly vers: string;
  readonly deps: readonly object[];
  readonly cksum: string;
  readonly features: Readonly<Record<string, readonly string[]>>;
  readonly yanked: boolean;
  readonly links?: string;
  readonly v?: 2;
  readonly features2?: Readonly<Record<string, readonly string[]>>;
  readonly rust_version?: string;
}

/**
 * Converts what cargo sends into what the index shows. @see RFC 2789; "Registry Index" of the Cargo
 * Book.
 */
export function toCrateMetadata(crate: PublishedCrate): CrateMetadata {
  const { name, vers, deps, links, rust_version: rustVersion } = crate;
  const all = Object.entries(crate.features);
  // Cargo before 1.60 fails on these, and skips lines of version 2.
  const isNew = ([, values]: [string, string[]]): boolean =>
    values.some((value) => value.startsWith("dep:") || value.includes("?/"));
  const later = all.filter(isNew);
  return {
    entry: {
      name,
      vers,
      deps: deps.map((dep) => ({
        name: dep.explicit_name_in_toml ?? dep.name,
        req: dep.version_req,
        features: dep.features,
        optional: dep.optional,
        default_features: dep.default_features,
        target: dep.target ?? null,
        kind: dep.kind,
        registry: dep.registry ?? null,
        package: dep.explicit_name_in_toml ? dep.name : null,
      })),
      features: Object.fromEntries(all.filter((feature) => !isNew(feature))),
      ...(links && { links }),
      ...(later.length > 0 && { v: 2, features2: Object.fromEntries(later) }),
      ...(rustVersion && { rust_version: rustVersion }),
    },
    description: crate.description ?? "",
    documentation: crate.documentation ?? "",
    homepage: crate.homepage ?? "",
    repository: crate.repository ?? "",
    license: crate.license ?? "",
    keywords: crate.keywords,
    categories: crate.categories,
  };
}
