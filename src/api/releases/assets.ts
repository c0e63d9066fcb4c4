import { createRoute, z } from "@hono/zod-openapi";

import type { Ctx } from "../../context.ts";
import type { Attachment as AttachmentRow } from "../../db/schema/index.ts";
import { ATTACHMENT_NAME_MAX } from "../../domain/issues/attachments/attachment-name.ts";
import {
  type FormFile,
  MULTIPART_EXTRA_BYTES_MAX,
  openFormFile,
  readRawFile,
} from "../../domain/issues/attachments/form-file.ts";
import {
  deleteAsset,
  findAsset,
  renameAsset,
  requireAssetWriting,
  storeAsset,
} from "../../domain/packages/releases/assets.ts";
import { findRelease } from "../../domain/packages/releases/find-release.ts";
import { malformed, tooLarge } from "../../lib/failure.ts";
import { Attachment } from "../../shapes/issues/attachment.ts";
import { type ReleaseContext, toReleaseAsset } from "../../shapes/releases/release.ts";
import { empty, json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo, signedInRepo } from "../guards/repository.ts";
import { body, optionalText } from "../json-body.ts";
import { AssetPath, ReleasePath } from "./paths.ts";

const MIB = 1024 * 1024;

const reading = inRepo("read:repository", { unit: "releases", mode: "read" });
const writing = signedInRepo("write:repository", { unit: "releases", mode: "write" });

const EditAsset = body({
  name: optionalText(ATTACHMENT_NAME_MAX).openapi({
    description: "The new name; empty to keep the present one",
  }),
}).openapi("EditAttachmentOptions");

const NewAsset = z.object({
  name: z.string().max(ATTACHMENT_NAME_MAX).optional().openapi({
    description: "The name of the file, in place of the one in a form; required for a plain body",
  }),
});

const upload = {
  required: true,
  description: "The file, in a form or as the body itself",
  content: {
    "multipart/form-data": {
      schema: z.object({ attachment: z.string().openapi({ format: "binary" }) }),
    },
    "application/octet-stream": { schema: z.string().openapi({ format: "binary" }) },
  },
};

export const releaseAssets = endpoints();

releaseAssets.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/releases/{id}/assets",
    operationId: "repoListReleaseAttachments",
    tags: ["repository"],
    summary: "List the files of a release",
    middleware: [reading] as const,
    request: { params: ReleasePath },
    responses: { 200: json(z.array(Attachment), "The files, by name"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const release = await findRelease(ctx, repo, c.req.valid("param"));
    return c.json(
      release.assets.map((each) => toReleaseAsset(each, release, viewer)),
      200,
    );
  },
);

releaseAssets.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/releases/{id}/assets",
    operationId: "repoCreateReleaseAttachment",
    tags: ["repository"],
    summary: "Add a file to a release",
    middleware: [writing] as const,
    request: { params: ReleasePath, query: NewAsset, body: upload },
    responses: {
      201: json(Attachment, "The new file"),
      ...refusals(400, 401, 403, 404, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const release = await findRelease(ctx, repo, c.req.valid("param"));
    const asset = await addAsset(ctx, c.req.raw, release, c.req.valid("query").name ?? "");
    return c.json(toReleaseAsset(asset, release, viewer), 201);
  },
);

releaseAssets.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/releases/{id}/assets/{attachment_id}",
    operationId: "repoGetReleaseAttachment",
    tags: ["repository"],
    summary: "Get a file of a release",
    middleware: [reading] as const,
    request: { params: AssetPath },
    responses: { 200: json(Attachment, "The file"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const param = c.req.valid("param");
    const release = await findRelease(ctx, repo, param);
    const asset = findAsset(release, param.attachment_id);
    return c.json(toReleaseAsset(asset, release, viewer), 200);
  },
);

releaseAssets.openapi(
  createRoute({
    method: "patch",
    path: "/repos/{owner}/{repo}/releases/{id}/assets/{attachment_id}",
    operationId: "repoEditReleaseAttachment",
    tags: ["repository"],
    summary: "Rename a file of a release",
    middleware: [writing] as const,
    request: {
      params: AssetPath,
      body: { required: false, ...json(EditAsset, "The new name") },
    },
    responses: {
      201: json(Attachment, "The edited file"),
      ...refusals(400, 401, 403, 404, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const param = c.req.valid("param");
    const release = await findRelease(ctx, repo, param);
    const asset = findAsset(release, param.attachment_id);
    const renamed = await renameAsset(ctx, release, asset, c.req.valid("json").name ?? "");
    return c.json(toReleaseAsset(renamed, release, viewer), 201);
  },
);

releaseAssets.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/releases/{id}/assets/{attachment_id}",
    operationId: "repoDeleteReleaseAttachment",
    tags: ["repository"],
    summary: "Delete a file of a release",
    middleware: [writing] as const,
    request: { params: AssetPath },
    responses: { 204: empty("The file is deleted"), ...refusals(401, 403, 404, 423) },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const param = c.req.valid("param");
    const release = await findRelease(ctx, repo, param);
    await deleteAsset(ctx, release, findAsset(release, param.attachment_id));
    return c.body(null, 204);
  },
);

/** Stores the file of a request. */
async function addAsset(
  ctx: Ctx,
  request: Request,
  release: ReleaseContext,
  name: string,
): Promise<AttachmentRow> {
  // Before the body is read, which may be long.
  requireAssetWriting(ctx, release);
  const { attachmentMaxMib } = ctx.config;
  const length = Number(request.headers.get("content-length") ?? 0);
  if (length > attachmentMaxMib * MIB + MULTIPART_EXTRA_BYTES_MAX) {
    throw tooLarge(`the file is larger than ${attachmentMaxMib} MiB`);
  }
  const file = await openFile(request, name);
  const storing = storeAsset(ctx, release, file);
  // Storing, and the cleanup after a failure, completes even if the client disconnects.
  ctx.defer(storing.catch(() => undefined));
  return storing;
}

/**
 * The file in a form, or the body itself.
 *
 * @throws Failure `malformed` without a file, or without a name for it.
 */
async function openFile(request: Request, name: string): Promise<FormFile> {
  const type = request.headers.get("content-type") ?? "";
  const stream = request.body ?? new Blob([]).stream();
  if (!/^multipart\/form-data\b/i.test(type)) {
    if (name === "") throw malformed("Could not determine name of attachment.");
    return { name, pieces: readRawFile(stream) };
  }
  const file = await openFormFile(type, stream, "attachment");
  if (!file) throw malformed("the form has no file in its field attachment");
  return { name: name || file.name, pieces: file.pieces };
}
