import { and, asc, eq, sql } from "drizzle-orm";
import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import type { Ctx } from "../../context.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import { packageBlobs, packageFiles, packages, packageVersions } from "../../db/schema/index.ts";
import { fileIdOf, preparePackageFile } from "../../domain/packages/package/find-file.ts";
import { findPackage, type PackageContext } from "../../domain/packages/package/find-package.ts";
import { findVersion } from "../../domain/packages/package/find-version.ts";
import { publishVersion } from "../../domain/packages/package/publish-version.ts";
import { receiveBlob, withBlobs } from "../../domain/packages/package/receive-blob.ts";
import { setYanked } from "../../domain/packages/package/set-yanked.ts";
import { conflict, forbidden, notFound } from "../../lib/failure.ts";
import { answerFile } from "../answer-file.ts";
import { answerIndex } from "../answer-index.ts";
import { sourceOfBlob } from "../archives/blob-source.ts";
import {
  enterOwner,
  enterPackage,
  enterPackageFileBy,
  type NamedPackage,
  type PackageRequest,
} from "../enter.ts";
import { enterRegistry } from "../enter-registry.ts";
import type { RegistryContext, RegistryEnv } from "../env.ts";
import { readUpload } from "../read-upload.ts";
import { failureRenderer, jsonDialect } from "../render-failure.ts";
import { type CrateMetadata, parsePublishedCrate, toCrateMetadata } from "./crate-metadata.ts";
import { readCargoToken } from "./credential.ts";
import { requireCrate } from "./inspect-crate.ts";
import {
  crateKey,
  crateVersionKey,
  indexFolderOf,
  requireCrateName,
  requireCrateVersion,
} from "./names.ts";
import { readCratePublication } from "./read-publication.ts";
import { searchCrates } from "./search-crates.ts";

/** The registry of Rust crates: cargo's sparse index and web API. */
export const cargo = new Hono<RegistryEnv>({ router: new TrieRouter() });

const API = "/api/v1/crates";
const PAGE_SIZE = 10;
const PAGE_SIZE_MAX = 100;
const OK = { ok: true } as const;

cargo.get("/config.json", async (c) => {
  const { ctx, owner } = await enterOwner(c, ruleOf(c, "read"));
  const { account } = owner;
  const root = `${ctx.rootUrl}/api/packages/${account.name}/cargo`;
  return c.json({
    dl: `${root}${API}`,
    api: root,
    "auth-required": account.visibility !== "public" || ctx.config.isSignInRequired,
  });
});

cargo.get(API, async (c) => {
  const view = await enterRegistry(c, { ...ruleOf(c, "read"), type: "cargo" });
  const perPage = readNumber(c.req.query("per_page"), PAGE_SIZE, PAGE_SIZE_MAX);
  const page = readNumber(c.req.query("page"), 1, Number.MAX_SAFE_INTEGER / PAGE_SIZE_MAX);
  const found = await searchCrates(view, c.req.query("q") ?? "", { page, perPage });
  return c.json({ crates: found.crates, meta: { total: found.total } });
});

cargo.put(`${API}/new`, async (c) => {
  const { ctx, owner } = await enterOwner(c, ruleOf(c, "write"));
  const { json, pieces } = await readCratePublication(readUpload(c));
  const crate = parsePublishedCrate(json);
  const name = requireCrateName(crate.name);
  const version = crate.vers;
  const versionKey = requireCrateVersion(version);
  const key = { type: "cargo", nameKey: crateKey(name) } as const;
  const blob = await receiveBlob(ctx, "cargo", pieces);
  const pkg = await withBlobs(ctx, [blob], async () => {
    await requireCrate(sourceOfBlob(ctx, blob), name, version);
    const known = await findPackage(ctx, owner, key);
    if (known && known.row.name !== name) {
      throw conflict(`the crate is spelled ${known.row.name}`);
    }
    return known;
  });
  const file = `${name}-${version}.crate`;
  await publishVersion(ctx, owner, pkg, {
    ...key,
    name,
    version,
    versionKey,
    metadata: toCrateMetadata(crate),
    files: [{ blob, name: file, nameKey: file, isLead: true }],
    ifVersionExists: "refuse",
  });
  return c.json(OK);
});

cargo.get(`${API}/:name/:version/download`, async (c) => {
  const { version } = c.req.param();
  const { ctx, found } = await enterPackageFileBy(c, namedCrate(c, "read"), selectCrate, {
    versionKey: crateVersionKey(version) ?? "",
    // The whole version: others of its key differ in their build metadata.
    ending: `-${version}.crate`,
  });
  if (!found) throw notFound("package does not exist");
  return answerFile(c, ctx, found);
});

cargo.delete(`${API}/:name/:version/yank`, (c) => yank(c, true));
cargo.put(`${API}/:name/:version/unyank`, (c) => yank(c, false));

cargo.get(`${API}/:name/owners`, async (c) => {
  const { pkg } = requireCrateOf(await enter(c, "read"));
  const { id, name, fullName } = pkg.owner.account;
  return c.json({ users: [{ id, login: name, name: fullName || name }] });
});

for (const method of ["PUT", "DELETE"]) {
  cargo.on(method, `${API}/:name/owners`, async (c) => {
    requireCrateOf(await enter(c, "write"));
    throw forbidden("a crate belongs to its account: everybody who may write its packages owns it");
  });
}

for (const path of ["/1/:name", "/2/:name", "/3/:first/:name", "/:first/:second/:name"]) {
  cargo.get(path, async (c) => {
    const { ctx, pkg } = requireCrateOf(await enter(c, "read"));
    const folder = c.req.path.split("/").slice(5, -1).join("/");
    const name = c.req.param("name") ?? "";
    // A name has one file. Cargo tries other spellings itself, and shows what it found.
    if (folder !== indexFolderOf(name) || pkg.row.name.toLowerCase() !== name.toLowerCase()) {
      throw notFound("package does not exist");
    }
    return answerIndex(c, ctx, {
      source: pkg.row,
      kind: ["cargo-index"],
      type: "text/plain; charset=UTF-8",
      make: () => formatIndex(ctx, pkg),
    });
  });
}

cargo.onError(
  failureRenderer(jsonDialect((message) => ({ errors: [{ detail: message }], ok: false }))),
);

const ruleOf = (c: RegistryContext, mode: "read" | "write") =>
  ({ mode, credential: readCargoToken(c) }) as const;

/** Finds the crate of the path. */
const enter = (c: RegistryContext, mode: "read" | "write"): Promise<PackageRequest> =>
  enterPackage(c, namedCrate(c, mode));

/** The crate of the path. */
function namedCrate(c: RegistryContext, mode: "read" | "write"): NamedPackage {
  const name = c.req.param("name") ?? "";
  return { ...ruleOf(c, mode), type: "cargo", name, nameKey: crateKey(name) };
}

function requireCrateOf({ ctx, pkg }: PackageRequest): { ctx: Ctx; pkg: PackageContext } {
  if (!pkg) throw notFound("package does not exist");
  return { ctx, pkg };
}

async function yank(c: RegistryContext, isYanked: boolean): Promise<Response> {
  const { ctx, pkg } = requireCrateOf(await enter(c, "write"));
  const text = c.req.param("version") ?? "";
  const key = crateVersionKey(text);
  const version = key === undefined ? undefined : await findVersion(ctx, pkg, key);
  if (version?.version !== text) throw notFound("package does not exist");
  await setYanked(ctx, pkg, version, isYanked);
  return c.json(OK);
}

/** Selects a crate with the file of a version, whose name begins with that of the crate. */
const selectCrate = preparePackageFile<{ versionKey: string; ending: string }>(
  ({ versionKey, ending }) => fileIdOf({ versionKey, nameKey: sql`${packages.name} || ${ending}` }),
);

/**
 * The file of a crate in the index: a line of JSON for each version, in the order in which they
 * were published.
 */
async function formatIndex({ db }: Ctx, { row }: PackageContext): Promise<string> {
  const versions = await indexedVersions(db, { packageId: row.id });
  const lines = versions.map(({ metadata, isYanked, sha256 }) => {
    const { name, vers, deps, features, ...more } = (metadata as CrateMetadata).entry;
    return JSON.stringify({ name, vers, deps, cksum: sha256, features, yanked: isYanked, ...more });
  });
  return lines.map((line) => `${line}\n`).join("");
}

const indexedVersions = prepare((db, { packageId }: Params<{ packageId: number }>) =>
  db
    .select({
      metadata: packageVersions.metadata,
      isYanked: packageVersions.isYanked,
      sha256: packageBlobs.sha256,
    })
    .from(packageVersions)
    .innerJoin(packageFiles, eq(packageFiles.versionId, packageVersions.id))
    .innerJoin(packageBlobs, eq(packageBlobs.id, packageFiles.blobId))
    .where(and(eq(packageVersions.packageId, packageId), eq(packageFiles.isLead, true)))
    .orderBy(asc(packageVersions.id)),
);

/** A number of a query from 1 to `max`; the default for anything else. */
function readNumber(text: string | undefined, byDefault: number, max: number): number {
  const number = /^\d{1,15}$/.test(text ?? "") ? Number(text) : byDefault;
  return Math.min(Math.max(1, number), max);
}
