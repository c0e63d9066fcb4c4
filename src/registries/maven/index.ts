import { createHash } from "node:crypto";

import { and, eq, sql } from "drizzle-orm";
import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import type { Ctx } from "../../context.ts";
import { batch } from "../../db/batch.ts";
import { columnsOf } from "../../db/db.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import { packageFiles, packages, packageVersions } from "../../db/schema/index.ts";
import { deleteFile, deleteVersion } from "../../domain/packages/package/delete-version.ts";
import { findPackageFile } from "../../domain/packages/package/find-file.ts";
import type { PackageContext } from "../../domain/packages/package/find-package.ts";
import { findVersion } from "../../domain/packages/package/find-version.ts";
import { publishVersion } from "../../domain/packages/package/publish-version.ts";
import { receiveBlob, storeBlob } from "../../domain/packages/package/receive-blob.ts";
import { Failure, malformed, notFound } from "../../lib/failure.ts";
import { answerBytes } from "../answer-bytes.ts";
import { answerFile } from "../answer-file.ts";
import { answerIndex } from "../answer-index.ts";
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
import { fileDateOf } from "../file-date.ts";
import { readBytes, readUpload } from "../read-upload.ts";
import { failureRenderer, PLAIN_TEXT } from "../render-failure.ts";
import { formatMetadata, formatSnapshotMetadata } from "./format-metadata.ts";
import { parsePom } from "./parse-pom.ts";
import {
  type Artifact,
  type Checksum,
  isSnapshot,
  type MavenPath,
  packageNameOf,
  parseMavenPath,
} from "./paths.ts";
import { keepPlugins, selectPlugins, toGroup, toPluginEntry } from "./plugins.ts";

/**
 * A Maven repository: artifacts with POMs, their checksums, and metadata that follows from them.
 */
export const maven = new Hono<RegistryEnv>({ router: new TrieRouter() });

/** Maximum bytes of a POM, of a checksum file, and of metadata that a client sends. */
const POM_BYTES_MAX = 1024 * 1024;
const CHECKSUM_BYTES_MAX = 1024;
const METADATA_BYTES_MAX = 1024 * 1024;

const TYPES: Readonly<Record<string, string>> = {
  jar: "application/java-archive",
  war: "application/java-archive",
  aar: "application/java-archive",
  pom: "text/xml",
  asc: "text/plain",
  module: "application/json",
};

const CHECKSUM_TYPE = "text/plain; charset=UTF-8";

type FilePath = Extract<MavenPath, { kind: "file" }>;
type MetadataPath = Extract<MavenPath, { kind: "metadata" }>;

maven.get("/*", async (c) => {
  const path = await readPath(c);
  switch (path.kind) {
    case "file":
      return answerArtifact(c, path);
    case "metadata":
      return answerMetadata(c, path);
    case "snapshot-metadata":
      return answerSnapshotMetadata(c, path);
    case "version":
      // A repository manager lists files here; no build tool asks for it.
      throw notFound("directories are not listed");
    default:
      return path satisfies never;
  }
});

maven.put("/*", async (c) => {
  const path = parseMavenPath(c);
  switch (path.kind) {
    case "file":
      return path.checksum === undefined ? publishFile(c, path) : checkFile(c, path, path.checksum);
    case "metadata":
      return takeMetadata(c, path);
    case "snapshot-metadata":
      await enterArtifact(c, path.artifact, "write");
      await readBytes(c, METADATA_BYTES_MAX);
      return c.body(null, 200);
    case "version":
      throw malformed("a directory can't be published");
    default:
      return path satisfies never;
  }
});

maven.delete("/*", async (c) => {
  const path = parseMavenPath(c);
  if ((path.kind !== "file" && path.kind !== "version") || ("checksum" in path && path.checksum)) {
    throw malformed("only versions and their files can be deleted");
  }
  const request = await enterArtifact(c, path.artifact, "write");
  const pkg = requirePackage(request);
  if (path.kind === "file") {
    const found = await findStored(request.ctx, pkg, path);
    if (!found) throw notFound("the file does not exist");
    await deleteFile(request.ctx, pkg, found.version, found.file);
  } else {
    const version = await findVersion(request.ctx, pkg, path.version);
    if (!version) throw notFound("the version does not exist");
    await deleteVersion(request.ctx, pkg, version);
  }
  return c.body(null, 204);
});

maven.onError(failureRenderer(PLAIN_TEXT));

/**
 * The target of a path that is read. Clients and repository managers ask for files that other
 * repositories have, such as `.meta/prefixes.txt`, and go on without what is not found.
 */
async function readPath(c: RegistryContext): Promise<MavenPath> {
  try {
    return parseMavenPath(c);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    await enterOwner(c, { mode: "read" });
    throw notFound(error.message);
  }
}

/** Finds the package of an artifact. */
const enterArtifact = (
  c: RegistryContext,
  artifact: Artifact,
  mode: "read" | "write",
): Promise<PackageRequest> => enterPackage(c, toNamed(artifact, mode));

/** The package of an artifact. Maven's names are compared as they are. */
function toNamed(artifact: Artifact, mode: "read" | "write"): NamedPackage {
  const name = packageNameOf(artifact);
  return { mode, type: "maven", name, nameKey: name };
}

const findStored = (ctx: Ctx, pkg: PackageContext, { version, file }: FilePath) =>
  findPackageFile(ctx, pkg, { versionKey: version, nameKey: file });

async function answerArtifact(c: RegistryContext, path: FilePath): Promise<Response> {
  const { artifact, version, file } = path;
  const key = { versionKey: version, nameKey: file };
  const { ctx, found } = await enterPackageFile(c, toNamed(artifact, "read"), key);
  if (!found) throw notFound("the file does not exist");
  if (path.checksum) {
    const modifiedAt = fileDateOf(found.file.createdAt, ctx.now);
    return answerBytes(c, found.blob[path.checksum], { type: CHECKSUM_TYPE, modifiedAt });
  }
  const extension = path.file.slice(path.file.lastIndexOf(".") + 1);
  const type = TYPES[extension];
  return answerFile(c, ctx, found, type === undefined ? {} : { type });
}

/**
 * Publishes a file. A release's files are there once; the files of a snapshot that have no
 * timestamp are replaced.
 */
async function publishFile(c: RegistryContext, path: FilePath): Promise<Response> {
  const { artifact, version, file } = path;
  const { ctx, owner, pkg } = await enterArtifact(c, artifact, "write");
  const isPom = file.endsWith(".pom");
  const content = isPom ? await readBytes(c, POM_BYTES_MAX) : undefined;
  const pom = content && (await requirePom(content, path));
  const blob = content
    ? await storeBlob(ctx, "maven", content)
    : await receiveBlob(ctx, "maven", readUpload(c));
  const name = packageNameOf(artifact);
  await publishVersion(ctx, owner, pkg, {
    type: "maven",
    name,
    nameKey: name,
    version,
    versionKey: version,
    ...(pom && { metadata: pom }),
    files: [{ blob, name: file, nameKey: file, isLead: /\.(?:jar|war|aar|zip)$/.test(file) }],
    ifVersionExists: pom ? "update" : "add",
    ifFileExists: isSnapshot(version) && file.includes("-SNAPSHOT") ? "replace" : "refuse",
  });
  return c.body(null, 201);
}

/**
 * @throws Failure `malformed` for anything else than the POM of this version; what it leaves open
 *   is not compared.
 */
async function requirePom(content: Uint8Array, { artifact, version }: FilePath) {
  const pom = await parsePom(content);
  if (!pom) throw malformed("the file is not a POM");
  const named = [
    [pom.groupId, artifact.groupId],
    [pom.artifactId, artifact.artifactId],
    [pom.version, version],
  ] as const;
  const isOther = named.some(
    ([given, expected]) => given !== "" && !given.includes("${") && given !== expected,
  );
  if (isOther) throw malformed("the POM is of another artifact or version than its path");
  return pom;
}

/** Compares a checksum that a client has computed with the file as it arrived. */
async function checkFile(
  c: RegistryContext,
  path: FilePath,
  checksum: Checksum,
): Promise<Response> {
  const { ctx, pkg } = await enterArtifact(c, path.artifact, "write");
  const text = new TextDecoder().decode(await readBytes(c, CHECKSUM_BYTES_MAX));
  const found = pkg && (await findStored(ctx, pkg, path));
  if (!found) throw notFound("the file does not exist");
  // Some tools write the name of the file behind the digest.
  const [digest = ""] = text.trim().toLowerCase().split(/\s/);
  if (digest !== found.blob[checksum]) throw malformed("hash mismatch");
  return c.body(null, 200);
}

/**
 * Takes the metadata of an artifact, which follows from its versions, and of a group, of which the
 * plugins are kept.
 */
async function takeMetadata(
  c: RegistryContext,
  { group, checksum }: MetadataPath,
): Promise<Response> {
  const { ctx, owner, sees } = await enterRegistry(c, { type: "maven", mode: "write" });
  const content = await readBytes(c, METADATA_BYTES_MAX);
  if (checksum === undefined) await keepPlugins(ctx, owner, sees, group, content);
  return c.body(null, 200);
}

async function answerMetadata(c: RegistryContext, path: MetadataPath): Promise<Response> {
  const { artifact, group } = path;
  const {
    ctx,
    owner,
    shown: registry,
    sees,
    visibilityKey,
  } = await enterRegistry(c, {
    type: "maven",
    mode: "read",
  });
  const kind = ["maven-metadata", group, visibilityKey] as const;
  return answerDocument(c, ctx, path, registry, kind, async () => {
    const { versions, plugins } = await batch(ctx.db, {
      // No package has an empty name.
      versions: selectVersions(ctx.db, {
        ownerId: owner.account.id,
        name: artifact ? packageNameOf(artifact) : "",
      }),
      plugins: selectPlugins(ctx.db, toGroup(owner, group)),
    });
    const seen = versions.filter(({ pkg }) => sees(pkg));
    const entries = plugins.filter(({ pkg }) => sees(pkg)).map(toPluginEntry);
    if (seen.length === 0 && entries.length === 0) throw notFound("the artifact does not exist");
    return formatMetadata(artifact, seen, entries);
  });
}

async function answerSnapshotMetadata(
  c: RegistryContext,
  path: Extract<MavenPath, { kind: "snapshot-metadata" }>,
): Promise<Response> {
  const { artifact, version } = path;
  const request = await enterArtifact(c, artifact, "read");
  const { row } = requirePackage(request);
  const { ctx } = request;
  return answerDocument(c, ctx, path, row, ["maven-snapshot", version], async () => {
    const files = await filesOfVersion(ctx.db, { packageId: row.id, version });
    if (files.length === 0) throw notFound("the version does not exist");
    return formatSnapshotMetadata(artifact, version, files);
  });
}

const filesOfVersion = prepare((db, p: Params<{ packageId: number; version: string }>) =>
  db
    .select({ name: packageFiles.name, createdAt: packageFiles.createdAt })
    .from(packageVersions)
    .innerJoin(packageFiles, eq(packageFiles.versionId, packageVersions.id))
    .where(
      and(eq(packageVersions.packageId, p.packageId), eq(packageVersions.versionKey, p.version)),
    )
    .orderBy(packageFiles.id),
);

/** Responds with a document, or with a checksum of it. */
const answerDocument = (
  c: RegistryContext,
  ctx: Ctx,
  { checksum }: MetadataPath | Extract<MavenPath, { kind: "snapshot-metadata" }>,
  source: Parameters<typeof answerIndex>[2]["source"],
  kind: readonly [kind: string, ...parts: string[]],
  make: () => Promise<string>,
): Promise<Response> =>
  answerIndex(c, ctx, {
    source,
    kind: [...kind, checksum ?? ""],
    type: checksum ? CHECKSUM_TYPE : "text/xml; charset=UTF-8",
    make: async () => {
      const text = await make();
      return checksum ? createHash(checksum).update(text).digest("hex") : text;
    },
  });

/** Selects the versions of a package of an owner. */
const selectVersions = prepare((db, p: Params<{ ownerId: number; name: string }>) =>
  db
    .select({
      version: packageVersions.version,
      updatedAt: sql<number>`(
        select coalesce(max(${packageFiles.createdAt}), 0)
        from ${packageFiles}
        where ${packageFiles.versionId} = ${packageVersions.id}
      )`.as("updated_at"),
      pkg: columnsOf(packages, "p"),
    })
    .from(packages)
    .innerJoin(packageVersions, eq(packageVersions.packageId, packages.id))
    .where(
      and(
        eq(packages.ownerId, p.ownerId),
        eq(packages.type, "maven"),
        eq(packages.nameKey, p.name),
      ),
    )
    .orderBy(packageVersions.id),
);
