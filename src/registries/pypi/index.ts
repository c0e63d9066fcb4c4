import { and, eq } from "drizzle-orm";
import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { type Params, prepare } from "../../db/prepared.ts";
import { packageFiles, packageProperties, packageVersions } from "../../db/schema/index.ts";
import { findPackage } from "../../domain/packages/package/find-package.ts";
import { findNewestVersion, findVersion } from "../../domain/packages/package/find-version.ts";
import { listPackages } from "../../domain/packages/package/list-packages.ts";
import { publishVersion } from "../../domain/packages/package/publish-version.ts";
import { withBlobs } from "../../domain/packages/package/receive-blob.ts";
import { setYanked } from "../../domain/packages/package/set-yanked.ts";
import { notFound } from "../../lib/failure.ts";
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
import { readBytes } from "../read-upload.ts";
import { failureRenderer, PLAIN_TEXT } from "../render-failure.ts";
import { checkUpload } from "./check-upload.ts";
import { normalizeProjectName, pythonVersionKey } from "./names.ts";
import {
  formatProjectDocument,
  latestVersionOf,
  type VersionMetadata,
} from "./project-document.ts";
import { CORE_METADATA, listProjectFiles } from "./project-files.ts";
import { readUploadForm } from "./read-upload-form.ts";
import { chooseSimpleType, formatProject, formatProjectList } from "./simple-index.ts";

/** The registry of Python packages: what pip, uv, twine and the like use. */
export const pypi = new Hono<RegistryEnv>({ router: new TrieRouter() });

const METADATA_ENDING = ".metadata";
const YANK = "/:name/:version/yank";
/** Maximum bytes of the reason for which a version is yanked. */
const REASON_BYTES_MAX = 1024;
const VARY = { Vary: "Accept" };

for (const path of ["/", "/legacy", "/legacy/"]) {
  pypi.post(path, async (c) => {
    const { ctx, owner } = await enterOwner(c, { mode: "write" });
    const upload = await readUploadForm(ctx, c);
    const { pkg, ...publication } = await withBlobs(ctx, [upload.blob], async () => {
      const checked = await checkUpload(ctx, upload);
      return { ...checked, pkg: await findPackage(ctx, owner, checked) };
    });
    await publishVersion(ctx, owner, pkg, publication);
    return c.body(null, 201);
  });
}

for (const path of ["/simple", "/simple/"]) {
  pypi.get(path, async (c) => {
    const view = await enterRegistry(c, { type: "pypi", mode: "read" });
    const { ctx, owner, shown: registry, sees, visibilityKey } = view;
    const type = chooseSimpleType(c.req.header("accept"), c.req.query("format"));
    if (!type) return refuseType(c);
    return answerIndex(c, ctx, {
      source: registry,
      kind: ["pypi-projects", type, visibilityKey],
      type,
      headers: VARY,
      make: async () => {
        const rows = await listPackages(ctx, owner.account.id, "pypi");
        const names = rows.filter(sees).map(({ nameKey }) => nameKey);
        return formatProjectList(names, `${rootOf(view)}/simple`, type);
      },
    });
  });
}

for (const path of ["/simple/:name", "/simple/:name/"]) {
  pypi.get(path, async (c) => {
    const request = await enter(c, "read");
    const { ctx } = request;
    const pkg = requirePackage(request);
    const type = chooseSimpleType(c.req.header("accept"), c.req.query("format"));
    if (!type) return refuseType(c);
    return answerIndex(c, ctx, {
      source: pkg.row,
      kind: ["pypi-project", type],
      type,
      headers: VARY,
      make: async () => formatProject(pkg.row, await listProjectFiles(ctx, pkg), type),
    });
  });
}

pypi.get("/files/:name/:version/:file", async (c) => {
  const { version, file } = c.req.param();
  const nameKey = file.toLowerCase();
  const versionKey = pythonVersionKey(version);
  if (nameKey.endsWith(METADATA_ENDING)) {
    const request = await enter(c, "read");
    const pkg = requirePackage(request);
    const ofFile = nameKey.slice(0, -METADATA_ENDING.length);
    const found = await findCoreMetadata(request, pkg.row.id, versionKey, ofFile);
    if (!found) throw notFound("package file does not exist");
    const modifiedAt = fileDateOf(found.createdAt, request.ctx.now);
    return answerBytes(c, found.text, { type: "text/plain; charset=UTF-8", modifiedAt });
  }
  const { ctx, found } = await enterPackageFile(c, namedProject(c, "read"), {
    versionKey,
    nameKey,
  });
  if (!found) throw notFound("package file does not exist");
  return answerFile(c, ctx, found);
});

for (const path of ["/pypi/:name/json", "/pypi/:name/:version/json"]) {
  pypi.get(path, async (c) => {
    const request = await enter(c, "read");
    const { ctx } = request;
    const pkg = requirePackage(request);
    const given = c.req.param("version");
    const key = given === undefined ? undefined : pythonVersionKey(given);
    return answerIndex(c, ctx, {
      source: pkg.row,
      kind: ["pypi-document", key ?? ""],
      type: "application/json",
      make: async () => {
        // The version that a project shows is mostly the one that was published last.
        const [files, read] = await Promise.all([
          listProjectFiles(ctx, pkg),
          key === undefined ? findNewestVersion(ctx, pkg) : findVersion(ctx, pkg, key),
        ]);
        const [first] = files;
        const shown = first && key === undefined ? latestVersionOf(first, files) : read?.version;
        const found =
          shown === undefined || shown === read?.version
            ? read
            : await findVersion(ctx, pkg, pythonVersionKey(shown));
        if (!found) throw notFound("the version does not exist");
        const { version, metadata } = found;
        const projectUrl = `${rootOf(request)}/simple/${pkg.row.nameKey}/`;
        const form = { isOfProject: key === undefined, projectUrl };
        return formatProjectDocument(
          pkg.row.name,
          version,
          metadata as VersionMetadata,
          files,
          form,
        );
      },
    });
  });
}

/** An extension: the interfaces of PyPI have no route for this. The body is the reason, as text. */
pypi.put(YANK, async (c) => {
  const request = await enter(c, "write");
  const reason = new TextDecoder().decode(await readBytes(c, REASON_BYTES_MAX)).trim();
  return yank(c, request, true, reason);
});

pypi.delete(YANK, async (c) => yank(c, await enter(c, "write"), false, ""));

pypi.onError(failureRenderer(PLAIN_TEXT));

/** Finds the project of the path. */
const enter = (c: RegistryContext, mode: "read" | "write"): Promise<PackageRequest> =>
  enterPackage(c, namedProject(c, mode));

/** The project of the path. */
function namedProject(c: RegistryContext, mode: "read" | "write"): NamedPackage {
  const name = c.req.param("name") ?? "";
  return { mode, type: "pypi", name, nameKey: normalizeProjectName(name) };
}

const rootOf = ({ ctx, owner }: Pick<PackageRequest, "ctx" | "owner">): string =>
  `${ctx.rootUrl}/api/packages/${owner.account.name}/pypi`;

const refuseType = (c: RegistryContext): Response =>
  c.text("the index is HTML or JSON of version 1\n", 406, VARY);

async function findCoreMetadata(
  { ctx }: PackageRequest,
  packageId: number,
  versionKey: string,
  nameKey: string,
): Promise<{ text: string; createdAt: number } | undefined> {
  const [found] = await coreMetadata(ctx.db, { packageId, versionKey, nameKey });
  return found;
}

const coreMetadata = prepare(
  (db, p: Params<{ packageId: number; versionKey: string; nameKey: string }>) =>
    db
      .select({ text: packageProperties.value, createdAt: packageFiles.createdAt })
      .from(packageVersions)
      .innerJoin(packageFiles, eq(packageFiles.versionId, packageVersions.id))
      .innerJoin(packageProperties, eq(packageProperties.fileId, packageFiles.id))
      .where(
        and(
          eq(packageVersions.packageId, p.packageId),
          eq(packageVersions.versionKey, p.versionKey),
          eq(packageFiles.nameKey, p.nameKey),
          eq(packageProperties.name, CORE_METADATA),
        ),
      ),
);

async function yank(
  c: RegistryContext,
  request: PackageRequest,
  isYanked: boolean,
  reason: string,
): Promise<Response> {
  const { ctx } = request;
  const pkg = requirePackage(request);
  const found = await findVersion(ctx, pkg, pythonVersionKey(c.req.param("version") ?? ""));
  if (!found) throw notFound("the version does not exist");
  await setYanked(ctx, pkg, found, isYanked, reason);
  return c.body(null, 204);
}
