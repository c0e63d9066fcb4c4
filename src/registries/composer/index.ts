import { eq, sql } from "drizzle-orm";
import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import type { Ctx } from "../../context.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import { packageBlobs, packageFiles, packageVersions } from "../../db/schema/index.ts";
import { deleteVersion } from "../../domain/packages/package/delete-version.ts";
import { findPackage, type PackageContext } from "../../domain/packages/package/find-package.ts";
import { findVersion } from "../../domain/packages/package/find-version.ts";
import { listPackages } from "../../domain/packages/package/list-packages.ts";
import { publishVersion } from "../../domain/packages/package/publish-version.ts";
import { receiveBlob, withBlobs } from "../../domain/packages/package/receive-blob.ts";
import { type Failure, malformed, notFound } from "../../lib/failure.ts";
import { answerFile } from "../answer-file.ts";
import { answerIndex } from "../answer-index.ts";
import type { ArchiveSource } from "../../lib/archive-source.ts";
import { sourceOfBlob } from "../archives/blob-source.ts";
import { openZip, type ZipFile } from "../../lib/zip.ts";
import {
  enterOwner,
  enterPackage,
  enterPackageFile,
  type NamedPackage,
  type PackageRequest,
  requirePackage,
} from "../enter.ts";
import { enterRegistry } from "../enter-registry.ts";
import type { RegistryContext, RegistryEnv } from "../env.ts";
import { readUpload } from "../read-upload.ts";
import { failureRenderer, jsonDialect } from "../render-failure.ts";
import { type ComposerVersion, formatComposerVersions } from "./format-versions.ts";
import {
  type ComposerPackage,
  isComposerName,
  type ParsedPackage,
  parsePackage,
} from "./parse-package.ts";
import { searchComposerPackages } from "./search-packages.ts";
import { isDevVersion, normalizeVersion } from "./versions.ts";

/**
 * A Composer repository: archives with a composer.json, and the metadata that Composer resolves by.
 */
export const composer = new Hono<RegistryEnv>({ router: new TrieRouter() });

const JSON_TYPE = "application/json";
const MANIFEST = "composer.json";
const MANIFEST_BYTES_MAX = 1024 * 1024;
const VERSION_CHARS_MAX = 255;
const PER_PAGE_DEFAULT = 15;
const PER_PAGE_MAX = 100;

composer.get("/packages.json", async (c) => {
  const { ctx, owner } = await enterOwner(c, { mode: "read" });
  const base = baseOf(ctx, owner.account.name);
  return c.json({
    packages: [],
    "metadata-url": `${base}/p2/%package%.json`,
    list: `${base}/list.json`,
    search: `${base}/search.json?q=%query%&type=%type%`,
  });
});

composer.get("/list.json", async (c) => {
  const filter = c.req.query("filter") ?? "";
  const {
    ctx,
    shown: registry,
    sees,
    visibilityKey,
  } = await enterRegistry(c, {
    type: "composer",
    mode: "read",
  });
  return answerIndex(c, ctx, {
    source: registry,
    kind: ["composer-list", filter, visibilityKey],
    type: JSON_TYPE,
    make: async () => {
      const rows = await listPackages(ctx, registry.ownerId, "composer");
      const names = rows.filter(sees).map(({ nameKey }) => nameKey);
      return JSON.stringify({ packageNames: names.filter(filterOf(filter)) });
    },
  });
});

composer.get("/search.json", async (c) => {
  const { q = "", type = "" } = c.req.query();
  const page = numberOf(c.req.query("page"), 1, 1_000_000);
  const perPage = numberOf(c.req.query("per_page"), PER_PAGE_DEFAULT, PER_PAGE_MAX);
  const {
    ctx,
    owner,
    shown: registry,
    sees,
    visibilityKey,
  } = await enterRegistry(c, {
    type: "composer",
    mode: "read",
  });
  return answerIndex(c, ctx, {
    source: registry,
    kind: ["composer-search", q, type, page, perPage, visibilityKey],
    type: JSON_TYPE,
    make: async () => {
      const found = (await searchComposerPackages(ctx, owner, q, type)).filter(({ pkg }) =>
        sees(pkg),
      );
      const base = baseOf(ctx, owner.account.name);
      const query = new URLSearchParams({ q, type, page: `${page + 1}`, per_page: `${perPage}` });
      return JSON.stringify({
        total: found.length,
        results: found
          .slice((page - 1) * perPage, page * perPage)
          .map(({ pkg, description, downloads }) => ({ name: pkg.name, description, downloads })),
        ...(page * perPage < found.length && { next: `${base}/search.json?${query}` }),
      });
    },
  });
});

composer.get("/p2/:vendor/:file", async (c) => {
  const [, project = "", dev] = /^(.*?)(~dev)?\.json$/.exec(c.req.param("file")) ?? [];
  const { ctx, pkg } = await enterNamed(c, `${c.req.param("vendor")}/${project}`, "read");
  if (!pkg) throw notFound("the package does not exist");
  const isDev = dev !== undefined;
  return answerIndex(c, ctx, {
    source: pkg.row,
    kind: ["composer-versions", isDev],
    type: JSON_TYPE,
    make: async () => {
      const versions = await listVersions(ctx, pkg);
      const ofFile = versions.filter(({ normalized }) => isDevVersion(normalized) === isDev);
      return formatComposerVersions(pkg.row.nameKey, ofFile);
    },
  });
});

composer.get("/files/:name/:version/:file", async (c) => {
  const { name, version, file } = c.req.param();
  const { ctx, found } = await enterPackageFile(c, toNamed(name, "read"), {
    versionKey: normalizeVersion(version) ?? "",
    nameKey: file.toLowerCase(),
  });
  if (!found) throw notFound("the file does not exist");
  return answerFile(c, ctx, found, { type: "application/zip" });
});

composer.put("/", async (c) => {
  const given = c.req.query("version");
  const { ctx, owner } = await enterOwner(c, { mode: "write" });
  const blob = await receiveBlob(ctx, "composer", readUpload(c));
  await withBlobs(ctx, [blob], async () => {
    const { metadata, version: stated } = await readPackage(sourceOfBlob(ctx, blob));
    const version = (given ?? stated ?? "").trim();
    const versionKey = requireVersion(version);
    const { name } = metadata;
    const pkg = await findPackage(ctx, owner, { type: "composer", nameKey: name });
    await publishVersion(ctx, owner, pkg, {
      type: "composer",
      name,
      nameKey: name,
      version,
      versionKey,
      metadata,
      files: [{ blob, name: fileNameOf(name, versionKey), isLead: true }],
      ifVersionExists: "refuse",
    });
  });
  return c.body(null, 201);
});

composer.delete("/packages/:name/:version", async (c) => {
  const { name, version } = c.req.param();
  const request = await enterNamed(c, name, "write");
  const pkg = requirePackage(request);
  const found = await findVersion(request.ctx, pkg, normalizeVersion(version) ?? "");
  if (!found) throw notFound("the version does not exist");
  await deleteVersion(request.ctx, pkg, found);
  return c.body(null, 204);
});

composer.onError(
  failureRenderer(
    jsonDialect((message, _failure, status) => ({ status: "error", code: status, message })),
  ),
);

const baseOf = ({ rootUrl }: Ctx, ownerName: string): string =>
  `${rootUrl}/api/packages/${encodeURIComponent(ownerName)}/composer`;

/** @throws Failure `malformed` for what no package is called. */
const enterNamed = async (
  c: RegistryContext,
  name: string,
  mode: "read" | "write",
): Promise<PackageRequest> => enterPackage(c, toNamed(name, mode));

/** @throws Failure `malformed` for what no package is called. */
function toNamed(name: string, mode: "read" | "write"): NamedPackage {
  const nameKey = name.toLowerCase();
  if (!isComposerName(nameKey)) throw malformed("a package is called vendor/name");
  return { mode, type: "composer", name: nameKey, nameKey };
}

/** @returns The version as Composer compares it. @throws Failure `malformed` */
function requireVersion(version: string): string {
  const normalized = version.length > VERSION_CHARS_MAX ? undefined : normalizeVersion(version);
  if (normalized !== undefined) return normalized;
  throw malformed(
    version === ""
      ? "the version is missing: state it in composer.json or as ?version="
      : "the version is none that Composer reads",
  );
}

/** The name of the archive of a version, which may have slashes. */
const fileNameOf = (name: string, versionKey: string): string =>
  `${name}.${versionKey}.zip`.replaceAll("/", "-").toLowerCase();

/**
 * Reads the composer.json of an archive: at its root, or in the one folder that holds all of the
 * package.
 */
async function readPackage(source: ArchiveSource): Promise<ParsedPackage> {
  const files = await openZip(source, { isRead: (path) => path.endsWith(MANIFEST) });
  const manifest =
    files.find(({ path }) => path === MANIFEST) ?? onlyOne(files.filter(isInTopFolder));
  if (!manifest) throw noManifest();
  const parsed = await parsePackage(await manifest.read(MANIFEST_BYTES_MAX));
  if (!parsed) throw malformed("composer.json is not that of a package with a valid name");
  return parsed;
}

const isInTopFolder = ({ path }: ZipFile): boolean => {
  const [, file, ...deeper] = path.split("/");
  return file === MANIFEST && deeper.length === 0;
};

function onlyOne<T>(values: readonly T[]): T | undefined {
  return values.length === 1 ? values[0] : undefined;
}

const noManifest = (): Failure =>
  malformed("the archive must have one composer.json, at its root or in its only folder");

/** The versions of a package with their archives, newest first. */
async function listVersions(ctx: Ctx, { row, owner }: PackageContext): Promise<ComposerVersion[]> {
  const rows = await storedVersions(ctx.db, { packageId: row.id });
  const files = `${baseOf(ctx, owner.account.name)}/files/${encodeURIComponent(row.nameKey)}`;
  return rows.map(({ version, normalized, metadata, createdAt, file, sha1 }) => ({
    version,
    normalized,
    metadata: metadata as ComposerPackage,
    createdAt,
    sha1,
    url: `${files}/${encodeURIComponent(version)}/${encodeURIComponent(file)}`,
  }));
}

const storedVersions = prepare((db, { packageId }: Params<{ packageId: number }>) =>
  db
    .select({
      version: packageVersions.version,
      normalized: packageVersions.versionKey,
      metadata: packageVersions.metadata,
      createdAt: packageVersions.createdAt,
      file: packageFiles.name,
      sha1: packageBlobs.sha1,
    })
    .from(packageVersions)
    .innerJoin(packageFiles, eq(packageFiles.versionId, packageVersions.id))
    .innerJoin(packageBlobs, eq(packageBlobs.id, packageFiles.blobId))
    .where(eq(packageVersions.packageId, packageId))
    .orderBy(sql`${packageVersions.id} desc`),
);

/** The condition of a filter such as `vendor/*`; all names without one. */
function filterOf(filter: string): (name: string) => boolean {
  if (filter === "") return () => true;
  const parts = filter.toLowerCase().split("*");
  const [first = ""] = parts;
  return (name) => {
    if (parts.length === 1) return name === first;
    if (!name.startsWith(first)) return false;
    let at = first.length;
    for (const part of parts.slice(1, -1)) {
      const found = name.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    const last = parts.at(-1) ?? "";
    return name.length - last.length >= at && name.endsWith(last);
  };
}

/** A whole number from 1 to `max`; the default for anything else. */
function numberOf(text: string | undefined, byDefault: number, max: number): number {
  const number = Number(text);
  return Number.isInteger(number) && number >= 1 ? Math.min(number, max) : byDefault;
}
