import { and, asc, eq, sql } from "drizzle-orm";
import { z } from "zod";

import type { Ctx } from "../../context.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import { packageProperties, packages, packageVersions } from "../../db/schema/index.ts";
import { readIndex } from "../answer-index.ts";
import type { RegistryRequest } from "../enter-registry.ts";
import { LATEST, npmScopeOf } from "./names.ts";
import { TAG_PROPERTY } from "./tags.ts";

/** A search as npm's clients send it. */
export interface SearchQuery {
  readonly text: string;
  readonly size: number;
  readonly from: number;
}

/** Maximum number of terms of a search. */
const TERMS_MAX = 16;
const SIZE_MAX = 250;

/** A package as searches see it: that of its latest version. */
interface CatalogEntry {
  readonly id: number;
  readonly name: string;
  readonly repoId: number | null;
  readonly isRestricted: boolean;
  readonly isConcealed: boolean;
  readonly version: string;
  readonly createdAt: number;
  readonly fields: {
    readonly description?: unknown;
    readonly keywords?: unknown;
    readonly author?: unknown;
    readonly maintainers?: unknown;
    readonly homepage?: unknown;
    readonly repository?: unknown;
    readonly bugs?: unknown;
    readonly license?: unknown;
  };
}

const Size = z.coerce.number().int().min(0).max(SIZE_MAX).catch(20);
const From = z.coerce.number().int().min(0).catch(0);

export const parseSearch = (query: Readonly<Record<string, string>>): SearchQuery => ({
  text: query["text"] ?? "",
  size: Size.parse(query["size"] ?? 20),
  from: From.parse(query["from"] ?? 0),
});

/**
 * Finds packages in which all terms of a text occur: in the name, the description or the keywords,
 * or in the field that the term names, as `keywords:a,b`, `author:a`, `maintainer:a` and `scope:a`.
 * Sorted by name.
 *
 * @returns The document that `GET /-/v1/search` sends.
 * @see github.com/npm/registry/blob/main/docs/REGISTRY-API.md, "GET·/-/v1/search".
 */
export async function searchCatalog(
  request: RegistryRequest,
  { text, size, from }: SearchQuery,
  baseUrl: string,
): Promise<object> {
  const { ctx, owner, registry, sees } = request;
  const bytes = await readIndex(ctx, {
    source: registry,
    // The number of this form of an entry: older ones are not read.
    kind: ["npm-catalog", 2],
    make: async () => JSON.stringify(await listCatalog(ctx, owner.account.id)),
  });
  const catalog = JSON.parse(new TextDecoder().decode(bytes)) as CatalogEntry[];
  const matches = text.toLowerCase().split(/\s+/).filter(Boolean).slice(0, TERMS_MAX).map(toMatch);
  // SECURITY: the catalog has packages that this caller may not see.
  const found = catalog.filter((entry) => sees(entry) && matches.every((match) => match(entry)));
  return {
    objects: found
      .slice(from, from + size)
      .map((entry) => ({ package: toResult(entry, owner.account.name, baseUrl), score: SCORE })),
    total: found.length,
    time: new Date(ctx.now).toISOString(),
  };
}

/** Clients show results in the order they come, but some read their scores. */
const SCORE = { final: 1, detail: { quality: 1, popularity: 1, maintenance: 1 } };

async function listCatalog({ db }: Ctx, ownerId: number): Promise<CatalogEntry[]> {
  const rows = await catalogOf(db, { ownerId });
  return rows.map(({ fields, ...row }) =>
    Object.assign(row, { fields: JSON.parse(fields) as CatalogEntry["fields"] }),
  );
}

const catalogOf = prepare((db, { ownerId }: Params<{ ownerId: number }>) => {
  const { metadata } = packageVersions;
  const names = ["description", "keywords", "author", "maintainers", "homepage", "repository"];
  const pairs = [...names, "bugs", "license"].map(
    (name) => sql`${sql.raw(`'${name}'`)}, ${metadata} -> ${sql.raw(`'$.${name}'`)}`,
  );
  return db
    .select({
      id: sql<number>`${packages.id}`.as("package_id"),
      name: packages.name,
      repoId: packages.repoId,
      isRestricted: packages.isRestricted,
      isConcealed: packages.isConcealed,
      version: packageVersions.version,
      createdAt: sql<number>`${packageVersions.createdAt}`.as("published_at"),
      fields: sql<string>`json_patch('{}', json_object(${sql.join(pairs, sql`, `)}))`.as("fields"),
    })
    .from(packages)
    .innerJoin(
      packageVersions,
      sql`${packageVersions.id} = coalesce(
        (
          select ${packageProperties.versionId}
          from ${packageProperties}
          where ${and(
            eq(packageProperties.packageId, packages.id),
            eq(packageProperties.name, TAG_PROPERTY),
            eq(packageProperties.value, LATEST),
          )}
        ),
        (
          select max(newest.id)
          from ${packageVersions} newest
          where newest.package_id = ${packages.id}
        )
      )`,
    )
    .where(and(eq(packages.ownerId, ownerId), eq(packages.type, "npm")))
    .orderBy(asc(packages.nameKey));
});

type Match = (entry: CatalogEntry) => boolean;

/** @param term In lower case. */
function toMatch(term: string): Match {
  const [, key, value = ""] = /^(keywords|author|maintainer|scope):(.+)$/.exec(term) ?? [];
  const values = value.split(",").filter(Boolean);
  switch (key) {
    case "keywords":
      return ({ fields }) => values.some((each) => keywordsOf(fields).includes(each));
    case "author":
      return ({ fields }) => values.includes(nameOf(fields.author));
    case "maintainer":
      return ({ fields }) =>
        Array.isArray(fields.maintainers) &&
        fields.maintainers.some((each) => values.includes(nameOf(each)));
    case "scope":
      return ({ name }) => values.includes(npmScopeOf(name) ?? "unscoped");
    default:
      return ({ name, fields }) =>
        name.includes(term) ||
        textOf(fields.description).includes(term) ||
        keywordsOf(fields).some((keyword) => keyword.includes(term));
  }
}

const textOf = (value: unknown): string => (typeof value === "string" ? value.toLowerCase() : "");

const keywordsOf = ({ keywords }: CatalogEntry["fields"]): string[] =>
  Array.isArray(keywords) ? keywords.map(textOf) : [];

/** The name of a person, which is `Name <mail> (url)` or an object. */
function nameOf(person: unknown): string {
  if (typeof person === "string") return textOf(person.replace(/\s*[<(].*$/, ""));
  return typeof person === "object" && person !== null && "name" in person
    ? textOf(person.name)
    : "";
}

function toResult(
  { name, version, createdAt, fields }: CatalogEntry,
  owner: string,
  baseUrl: string,
): object {
  const { description, keywords, author, maintainers, license, ...links } = fields;
  const { homepage, repository, bugs } = links;
  const urls = { homepage, repository: urlOf(repository), bugs: urlOf(bugs) };
  const scope = npmScopeOf(name);
  return {
    scope: scope === undefined ? "unscoped" : `@${scope}`,
    name,
    version,
    description,
    keywords: Array.isArray(keywords) ? keywords : [],
    date: new Date(createdAt).toISOString(),
    author,
    license,
    // npm's client prints the first of both.
    publisher: { name: owner, username: owner },
    maintainers: Array.isArray(maintainers) ? maintainers : [],
    links: {
      npm: baseUrl,
      ...Object.fromEntries(Object.entries(urls).filter(([, url]) => typeof url === "string")),
    },
  };
}

const urlOf = (value: unknown): unknown =>
  typeof value === "object" && value !== null && "url" in value ? value.url : value;
