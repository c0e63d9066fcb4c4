import { createHash } from "node:crypto";

import { and, eq, sql } from "drizzle-orm";
import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { columnsOf } from "../../db/db.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import { packageBlobs, packageFiles, packages, packageVersions } from "../../db/schema/index.ts";
import { deleteFile } from "../../domain/packages/package/delete-version.ts";
import type { FileOfVersion } from "../../domain/packages/package/find-file.ts";
import { findPackage } from "../../domain/packages/package/find-package.ts";
import { publishVersion } from "../../domain/packages/package/publish-version.ts";
import { receiveBlob, withBlobs } from "../../domain/packages/package/receive-blob.ts";
import { findRegistryKey, signIndex } from "../../domain/packages/package/registry-key.ts";
import { malformed, notFound } from "../../lib/failure.ts";
import { answerFile } from "../answer-file.ts";
import { answerIndex, readIndex } from "../answer-index.ts";
import { sourceOfBlob } from "../archives/blob-source.ts";
import { enterOwner, enterPackageFile, type PackageRequest, requirePackage } from "../enter.ts";
import { enterRegistry, type RegistryRequest } from "../enter-registry.ts";
import type { RegistryContext, RegistryEnv } from "../env.ts";
import { readUpload } from "../read-upload.ts";
import { failureRenderer, PLAIN_TEXT } from "../render-failure.ts";
import {
  formatLists,
  formatPackages,
  formatRelease,
  INDEX_DIGESTS,
  type IndexedDeb,
  LIST_FORMS,
  listPathOf,
} from "./format-index.ts";
import {
  type BinaryName,
  debFileNameOf,
  isDebianName,
  isSegment,
  parseFileName,
  type Place,
  placeKeyOf,
  requirePlace,
} from "./names.ts";
import { parseDeb } from "./parse-deb.ts";

/** A Debian repository: packages in distributions and components, with signed indexes for apt. */
export const debian = new Hono<RegistryEnv>({ router: new TrieRouter() });

const DEB_TYPE = "application/vnd.debian.binary-package";
const TEXT_TYPE = "text/plain; charset=UTF-8";
const KEY_TYPE = "application/pgp-keys";

/** The metadata of a file. */
interface DebMetadata {
  readonly architecture: string;
  /** Fields of its control file, as an index lists them. */
  readonly control: string;
}

debian.get("/repository.key", async (c) => {
  const { ctx, owner, registry } = await enterRegistry(c, { type: "debian", mode: "read" });
  const { publicKey } = await findRegistryKey(ctx, owner, registry);
  return c.body(publicKey, 200, { "Content-Type": KEY_TYPE });
});

for (const file of ["Release", "Release.gpg", "InRelease"] as const) {
  debian.get(`/dists/:distribution/${file}`, async (c) => {
    const distribution = c.req.param("distribution");
    const request = await enterRegistry(c, { type: "debian", mode: "read" });
    const { ctx, owner, shown: registry, visibilityKey } = request;
    return answerIndex(c, ctx, {
      source: registry,
      kind: ["debian-release", distribution, file, visibilityKey],
      type: TEXT_TYPE,
      make: async () => {
        const release = await makeRelease(request, distribution);
        if (file === "Release") return release;
        const key = await findRegistryKey(ctx, owner, registry);
        const form = file === "InRelease" ? "clear" : "detached";
        return signIndex(key, release, form, registry.changedAt);
      },
    });
  });
}

const LISTS = "/dists/:distribution/:component/:directory";

debian.get(`${LISTS}/:file`, async (c) => {
  const { distribution, component, directory, file } = c.req.param();
  const architecture = architectureOf(directory);
  const pack = LIST_FORMS.get(file);
  if (!pack) throw notFound("the file does not exist");
  const request = await enterRegistry(c, { type: "debian", mode: "read" });
  const { ctx, shown: registry, visibilityKey } = request;
  return answerIndex(c, ctx, {
    source: registry,
    kind: ["debian-packages", distribution, component, architecture, file, visibilityKey],
    type: file === "Packages" ? TEXT_TYPE : "application/gzip",
    make: async () => {
      const debs = await listDebs(request, distribution);
      const own = debs.filter((deb) => deb.component === component);
      const isListed = debs.some((deb) => deb.architecture === architecture);
      if (own.length === 0 || !isListed) throw notFound("the file does not exist");
      return pack(formatPackages(own, architecture));
    },
  });
});

debian.get(`${LISTS}/by-hash/:digest/:hash`, async (c) => {
  const { distribution, component, directory, digest } = c.req.param();
  const hash = c.req.param("hash").toLowerCase();
  const name = INDEX_DIGESTS.find(([field]) => field === digest)?.[1];
  if (!name) throw notFound("the file does not exist");
  const prefix = listPathOf(component, architectureOf(directory), "");
  const request = await enterRegistry(c, { type: "debian", mode: "read" });
  return answerIndex(c, request.ctx, {
    ...byHash(request, distribution, prefix, name, hash),
    type: "application/octet-stream",
    make: async () => {
      const lists = formatLists(await listDebs(request, distribution));
      const found = lists.find(
        ({ path, bytes }) => path.startsWith(prefix) && digestOf(bytes, name) === hash,
      );
      if (!found) throw notFound("the file does not exist");
      return found.bytes;
    },
  });
});

debian.get("/pool/:distribution/:component/:file", async (c) => {
  const { file } = c.req.param();
  const name = parseFileName(file);
  if (!name) throw notFound("the file does not exist");
  const { ctx, found } = await enterDeb(c, name, "read");
  return answerFile(c, ctx, found, { type: DEB_TYPE });
});

debian.put("/pool/:distribution/:component/upload", async (c) => {
  const place = requirePlace(c.req.param("distribution"), c.req.param("component"));
  const { ctx, owner } = await enterOwner(c, { mode: "write" });
  const blob = await receiveBlob(ctx, "debian", readUpload(c));
  await withBlobs(ctx, [blob], async () => {
    const control = await parseDeb(sourceOfBlob(ctx, blob));
    const { name, version, architecture, text, ...described } = control;
    const pkg = await findPackage(ctx, owner, { type: "debian", nameKey: name });
    const file = debFileNameOf(control);
    await publishVersion(ctx, owner, pkg, {
      type: "debian",
      name,
      nameKey: name,
      version,
      versionKey: version,
      metadata: described,
      files: [
        {
          blob,
          name: file,
          nameKey: file,
          compositeKey: placeKeyOf(place),
          isLead: true,
          metadata: { architecture, control: text } satisfies DebMetadata,
        },
      ],
      ifVersionExists: "add",
    });
  });
  return c.body(null, 201);
});

debian.delete("/pool/:distribution/:component/:name/:version/:architecture", async (c) => {
  const { name, version, architecture } = c.req.param();
  const { ctx, pkg, found } = await enterDeb(c, { name, version, architecture }, "write");
  await deleteFile(ctx, pkg, found.version, found.file);
  return c.body(null, 204);
});

debian.onError(failureRenderer(PLAIN_TEXT));

/** The architecture of a directory of lists. @throws Failure `not_found` */
function architectureOf(directory: string): string {
  const architecture = /^binary-(.+)$/.exec(directory)?.[1];
  if (architecture === undefined) throw notFound("the file does not exist");
  return architecture;
}

/**
 * Finds the file of a binary package in the place that the path names. @throws Failure `not_found`
 */
async function enterDeb(
  c: RegistryContext,
  name: BinaryName,
  mode: "read" | "write",
): Promise<PackageRequest & { found: FileOfVersion; pkg: NonNullable<PackageRequest["pkg"]> }> {
  const { distribution = "", component = "" } = c.req.param() as Partial<Place>;
  const place = requirePlace(distribution, component);
  if (!isDebianName(name.name)) throw malformed("the name is none of a Debian package");
  const request = await enterPackageFile(
    c,
    { mode, type: "debian", name: name.name, nameKey: name.name },
    {
      versionKey: name.version,
      nameKey: debFileNameOf(name),
      compositeKey: placeKeyOf(place),
    },
  );
  const pkg = requirePackage(request);
  const { found } = request;
  if (!found) throw notFound("the file does not exist");
  return { ...request, pkg, found };
}

/**
 * Lists the packages of a distribution that the caller sees, by their names and in the order of
 * their publication.
 */
async function listDebs(
  { ctx, shown: registry, sees }: RegistryRequest,
  distribution: string,
): Promise<IndexedDeb[]> {
  if (!isSegment(distribution)) throw notFound("the distribution does not exist");
  // The keys that begin with the distribution and a bar.
  const range = { from: `${distribution}|`, to: `${distribution}}` };
  const rows = await debsIn(ctx.db, { ownerId: registry.ownerId, ...range });
  return rows
    .filter(({ pkg }) => sees(pkg))
    .map(({ pkg, blob, version, place, metadata }) => {
      const { architecture, control } = metadata as DebMetadata;
      return {
        name: pkg.name,
        version,
        architecture,
        distribution,
        component: place.slice(distribution.length + 1),
        text: control,
        sizeBytes: blob.sizeBytes,
        md5: blob.md5,
        sha1: blob.sha1,
        sha256: blob.sha256,
        sha512: blob.sha512,
      };
    });
}

const debsIn = prepare((db, p: Params<{ ownerId: number; from: string; to: string }>) =>
  db
    .select({
      pkg: columnsOf(packages, "p"),
      blob: columnsOf(packageBlobs, "b"),
      version: packageVersions.version,
      place: packageFiles.compositeKey,
      metadata: packageFiles.metadata,
    })
    .from(packages)
    .innerJoin(packageVersions, eq(packageVersions.packageId, packages.id))
    .innerJoin(packageFiles, eq(packageFiles.versionId, packageVersions.id))
    .innerJoin(packageBlobs, eq(packageBlobs.id, packageFiles.blobId))
    .where(
      and(
        eq(packages.ownerId, p.ownerId),
        eq(packages.type, "debian"),
        sql`${packageFiles.compositeKey} > ${p.from}`,
        sql`${packageFiles.compositeKey} < ${p.to}`,
      ),
    )
    .orderBy(packages.nameKey, packageVersions.id, packageFiles.id),
);

/**
 * Makes the Release file of a distribution, and keeps its lists under their hashes: a client that
 * has read it finds them after the next publication too.
 */
async function makeRelease(request: RegistryRequest, distribution: string): Promise<string> {
  const { ctx, shown: registry } = request;
  const debs = await listDebs(request, distribution);
  if (debs.length === 0) throw notFound("the distribution does not exist");
  const lists = formatLists(debs);
  for (const { path, bytes } of lists) {
    const prefix = path.slice(0, path.lastIndexOf("/") + 1);
    await readIndex(ctx, {
      ...byHash(request, distribution, prefix, "sha512", digestOf(bytes, "sha512")),
      make: async () => bytes,
    });
  }
  const { appName: origin } = ctx.config;
  return formatRelease({ origin, distribution, changedAt: registry.changedAt }, debs, lists);
}

/** The cache key of a list under its hash: no revision. */
const byHash = (
  { shown: registry, visibilityKey }: RegistryRequest,
  distribution: string,
  prefix: string,
  digest: string,
  hash: string,
) => ({
  source: { ...registry, revision: 0 },
  kind: ["debian-by-hash", distribution, prefix, digest, hash, visibilityKey] as const,
});

const digestOf = (bytes: Uint8Array, name: string): string =>
  createHash(name).update(bytes).digest("hex");
