import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { deleteFile, deleteVersion } from "../../domain/packages/package/delete-version.ts";
import { findVersion } from "../../domain/packages/package/find-version.ts";
import { publishVersion } from "../../domain/packages/package/publish-version.ts";
import { receiveBlob } from "../../domain/packages/package/receive-blob.ts";
import { notFound } from "../../lib/failure.ts";
import { answerFile } from "../answer-file.ts";
import {
  enterPackage,
  enterPackageFile,
  type NamedPackage,
  type PackageFileRequest,
  type PackageRequest,
  requirePackage,
} from "../enter.ts";
import type { RegistryContext, RegistryEnv } from "../env.ts";
import { failureRenderer, PLAIN_TEXT } from "../render-failure.ts";
import { readUpload } from "../read-upload.ts";
import { requireFileName, requireName, requireVersion } from "./names.ts";

/** Generic packages: any files, each under a name and a version. */
export const generic = new Hono<RegistryEnv>({ router: new TrieRouter() });

const FILE = "/:name/:version/:file";
const VERSION = "/:name/:version";

generic.get(FILE, async (c) => {
  const { ctx, found } = await enterFile(c, "read");
  if (!found) throw notFound("the file does not exist");
  return answerFile(c, ctx, found);
});

generic.put(FILE, async (c) => {
  const { ctx, owner, pkg, name, version, file } = await enter(c, "write");
  const blob = await receiveBlob(ctx, "generic", readUpload(c));
  await publishVersion(ctx, owner, pkg, {
    type: "generic",
    name,
    nameKey: name.toLowerCase(),
    version,
    versionKey: version,
    files: [{ blob, name: file, nameKey: file, isLead: true }],
    ifVersionExists: "add",
  });
  return c.body(null, 201);
});

generic.delete(FILE, async (c) => {
  const request = await enterFile(c, "write");
  const { ctx, found } = request;
  const pkg = requirePackage(request);
  if (!found) throw notFound("the file does not exist");
  await deleteFile(ctx, pkg, found.version, found.file);
  return c.body(null, 204);
});

generic.delete(VERSION, async (c) => {
  const request = await enter(c, "write");
  const pkg = requirePackage(request);
  const found = await findVersion(request.ctx, pkg, request.version);
  if (!found) throw notFound("the version does not exist");
  await deleteVersion(request.ctx, pkg, found);
  return c.body(null, 204);
});

generic.onError(failureRenderer(PLAIN_TEXT));

/**
 * Checks the names of the path and finds the package. Versions and file names are compared as they
 * are.
 */
async function enter(
  c: RegistryContext,
  mode: "read" | "write",
): Promise<PackageRequest & ReturnType<typeof readNames>> {
  const names = readNames(c);
  return { ...(await enterPackage(c, toNamed(names, mode))), ...names };
}

/** The same with the file. */
function enterFile(c: RegistryContext, mode: "read" | "write"): Promise<PackageFileRequest> {
  const names = readNames(c);
  const key = { versionKey: names.version, nameKey: names.file };
  return enterPackageFile(c, toNamed(names, mode), key);
}

/** @throws Failure `malformed` */
function readNames(c: RegistryContext): Record<"name" | "version" | "file", string> {
  const path = c.req.param() as { name: string; version: string; file?: string };
  return {
    name: requireName(path.name),
    version: requireVersion(path.version),
    file: path.file === undefined ? "" : requireFileName(path.file),
  };
}

const toNamed = ({ name }: { readonly name: string }, mode: "read" | "write"): NamedPackage => ({
  mode,
  type: "generic",
  name,
  nameKey: name.toLowerCase(),
});
