import { createRoute, z } from "@hono/zod-openapi";

import type { Ctx } from "../../context.ts";
import { deleteVersion } from "../../domain/packages/package/delete-version.ts";
import type { PackageContext } from "../../domain/packages/package/find-package.ts";
import { listPackageFiles } from "../../domain/packages/package/list-package-files.ts";
import {
  findVersionEntry,
  listOwnerVersions,
  listVersionsOf,
  type VersionOfPackage,
} from "../../domain/packages/package/list-package-versions.ts";
import { notFound } from "../../lib/failure.ts";
import { PackageFileShape, toPackageFile } from "../../shapes/packages/package-file.ts";
import { PackageShape, toPackage } from "../../shapes/packages/package.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { atPackage, atPackageIfAny, inPackages } from "../guards/packages.ts";
import { answerPage } from "../handlers.ts";
import { pageOf, Paging, readPageOrAll } from "../paging.ts";
import { PackageOwnerPath, PackagePath, PackageVersionPath } from "./paths.ts";

/** Packages of all formats; publishing is up to the registries. */
export const packageNoun = endpoints();

packageNoun.openapi(
  createRoute({
    method: "get",
    path: "/packages/{owner}",
    operationId: "listPackages",
    tags: ["package"],
    summary: "List the versions of an owner's packages",
    middleware: [inPackages("read")] as const,
    request: {
      params: PackageOwnerPath,
      query: Paging.extend({
        type: z.string().optional().openapi({ description: "Only this format", example: "npm" }),
        q: z.string().optional().openapi({ description: "A part of the name, in any case" }),
      }),
    },
    responses: {
      200: page(z.array(PackageShape), "The versions, newest first"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, owner, viewer } = c.var;
    const query = c.req.valid("query");
    const filter = { type: query.type || undefined, text: query.q || undefined };
    const items = await pageOf(c, query, (slice) => listOwnerVersions(ctx, owner, filter, slice));
    return c.json(
      items.map((each) => toPackage(each, viewer)),
      200,
    );
  },
);

packageNoun.openapi(
  createRoute({
    method: "get",
    path: "/packages/{owner}/{type}/{name}",
    operationId: "listPackageVersions",
    tags: ["package"],
    summary: "List the versions of a package",
    description: "The list of a package that does not exist is empty.",
    middleware: [atPackageIfAny()] as const,
    request: { params: PackagePath, query: Paging },
    responses: {
      200: page(z.array(PackageShape), "The versions, newest first"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, pkg, viewer } = c.var;
    const items = await pageOf(c, c.req.valid("query"), async (slice) =>
      pkg ? listVersionsOf(ctx, pkg, slice) : { items: [], total: 0 },
    );
    return c.json(
      items.map((each) => toPackage(each, viewer)),
      200,
    );
  },
);

packageNoun.openapi(
  createRoute({
    method: "get",
    path: "/packages/{owner}/{type}/{name}/-/latest",
    operationId: "getLatestPackageVersion",
    tags: ["package"],
    summary: "Get the version of a package that was published last",
    middleware: [atPackage("read")] as const,
    request: { params: PackagePath },
    responses: { 200: json(PackageShape, "The version"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, pkg, viewer } = c.var;
    return c.json(toPackage(await findVersion(ctx, pkg), viewer), 200);
  },
);

packageNoun.openapi(
  createRoute({
    method: "get",
    path: "/packages/{owner}/{type}/{name}/{version}",
    operationId: "getPackage",
    tags: ["package"],
    summary: "Get a version of a package",
    middleware: [atPackage("read")] as const,
    request: { params: PackageVersionPath },
    responses: { 200: json(PackageShape, "The version"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, pkg, viewer } = c.var;
    return c.json(
      toPackage(await findVersion(ctx, pkg, c.req.valid("param").version), viewer),
      200,
    );
  },
);

packageNoun.openapi(
  createRoute({
    method: "delete",
    path: "/packages/{owner}/{type}/{name}/{version}",
    operationId: "deletePackage",
    tags: ["package"],
    summary: "Delete a version of a package",
    description: "The package goes with its last version.",
    middleware: [atPackage("write")] as const,
    request: { params: PackageVersionPath },
    responses: { 204: empty("It is deleted"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, pkg } = c.var;
    const { version } = await findVersion(ctx, pkg, c.req.valid("param").version);
    await deleteVersion(ctx, pkg, version);
    return c.body(null, 204);
  },
);

packageNoun.openapi(
  createRoute({
    method: "get",
    path: "/packages/{owner}/{type}/{name}/{version}/files",
    operationId: "listPackageFiles",
    tags: ["package"],
    summary: "List the files of a version",
    description: "The list is complete unless a page is requested.",
    middleware: [atPackage("read")] as const,
    request: { params: PackageVersionPath, query: Paging },
    responses: {
      200: page(z.array(PackageFileShape), "The files, oldest first"),
      ...refusals(401, 403, 404),
    },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, pkg }, slice) => listPackageFiles(ctx, pkg, c.req.valid("param").version, slice),
      toPackageFile,
      readPageOrAll,
    ),
);

/** The version of a name, or the newest. @throws Failure `not_found` */
async function findVersion(
  ctx: Ctx,
  pkg: PackageContext,
  name?: string,
): Promise<VersionOfPackage> {
  const found = await findVersionEntry(ctx, pkg, name);
  if (!found) throw notFound("package version does not exist");
  return found;
}
