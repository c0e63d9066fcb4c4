import { createRoute, z } from "@hono/zod-openapi";

import { ATTACHMENT_NAME_MAX } from "../../domain/issues/attachments/attachment-name.ts";
import {
  requireAttaching,
  requireDating,
} from "../../domain/issues/attachments/attachment-subject.ts";
import {
  deleteAttachment,
  renameAttachment,
} from "../../domain/issues/attachments/change-attachment.ts";
import {
  filesOf,
  findAttachment,
  findSubject,
} from "../../domain/issues/attachments/find-attachment.ts";
import { storeAttachment } from "../../domain/issues/attachments/store-attachment.ts";
import { invalidField, malformed, tooLarge } from "../../lib/failure.ts";
import {
  MULTIPART_EXTRA_BYTES_MAX,
  openFormFile,
} from "../../domain/issues/attachments/form-file.ts";
import { Attachment, toAttachment } from "../../shapes/issues/attachment.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { empty, json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import type { GuardVariables } from "../guards/guard.ts";
import { inRepo, signedInRepo } from "../guards/repository.ts";
import { done } from "../handlers.ts";
import { body, optionalText } from "../json-body.ts";
import { CommentAttachmentPath, CommentPath, IssueAttachmentPath, IssuePath } from "./paths.ts";
import { queryTime } from "./time-range.ts";

const MIB = 1024 * 1024;

const EditAttachmentOptions = body({
  name: optionalText(ATTACHMENT_NAME_MAX).openapi({
    description: "The new name; empty to keep the present one",
  }),
}).openapi("EditAttachmentOptions");

const NewAttachment = z.object({
  name: z
    .string()
    .max(ATTACHMENT_NAME_MAX)
    .optional()
    .openapi({ description: "The name of the file, in place of the one in the form" }),
  updated_at: queryTime("When it was attached; only for administrators of the repository"),
});

const upload = {
  required: true,
  description: "The file",
  content: {
    "multipart/form-data": {
      schema: z.object({ attachment: z.string().openapi({ format: "binary" }) }),
    },
  },
};

export const attachments = endpoints();

attachments.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/issues/{index}/assets",
    operationId: "issueListIssueAttachments",
    tags: ["issue"],
    summary: "List the files of an issue or pull request",
    middleware: [inRepo("read:issue")] as const,
    request: { params: IssuePath },
    responses: { 200: json(z.array(Attachment), "The files, oldest first"), ...refusals(401, 404) },
  }),
  async (c) => c.json(await listFiles(c.var, c.req.valid("param")), 200),
);

attachments.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/issues/{index}/assets",
    operationId: "issueCreateIssueAttachment",
    tags: ["issue"],
    summary: "Attach a file to an issue or pull request",
    middleware: [signedInRepo("write:issue")] as const,
    request: { params: IssuePath, query: NewAttachment, body: upload },
    responses: {
      201: json(Attachment, "The new file"),
      ...refusals(400, 401, 403, 404, 413, 422, 423),
    },
  }),
  async (c) =>
    c.json(await attach(c.var, c.req.raw, c.req.valid("param"), c.req.valid("query")), 201),
);

attachments.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/issues/{index}/assets/{attachment_id}",
    operationId: "issueGetIssueAttachment",
    tags: ["issue"],
    summary: "Get a file of an issue or pull request",
    middleware: [inRepo("read:issue")] as const,
    request: { params: IssueAttachmentPath },
    responses: { 200: json(Attachment, "The file"), ...refusals(401, 404) },
  }),
  async (c) => {
    const { attachment } = await findFile(c.var, c.req.valid("param"));
    return c.json(toAttachment(attachment, c.var.viewer), 200);
  },
);

attachments.openapi(
  createRoute({
    method: "patch",
    path: "/repos/{owner}/{repo}/issues/{index}/assets/{attachment_id}",
    operationId: "issueEditIssueAttachment",
    tags: ["issue"],
    summary: "Rename a file of an issue or pull request",
    middleware: [signedInRepo("write:issue")] as const,
    request: {
      params: IssueAttachmentPath,
      body: { required: true, ...json(EditAttachmentOptions, "The new name") },
    },
    responses: {
      201: json(Attachment, "The edited file"),
      ...refusals(401, 403, 404, 413, 422, 423),
    },
  }),
  async (c) =>
    c.json(await rename(c.var, c.req.valid("param"), c.req.valid("json").name ?? ""), 201),
);

attachments.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/issues/{index}/assets/{attachment_id}",
    operationId: "issueDeleteIssueAttachment",
    tags: ["issue"],
    summary: "Delete a file of an issue or pull request",
    middleware: [signedInRepo("write:issue")] as const,
    request: { params: IssueAttachmentPath },
    responses: { 204: empty("The file is deleted"), ...refusals(401, 403, 404, 423) },
  }),
  (c) =>
    done(c, async ({ ctx }) => deleteAttachment(ctx, await findFile(c.var, c.req.valid("param")))),
);

attachments.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/issues/comments/{id}/assets",
    operationId: "issueListIssueCommentAttachments",
    tags: ["issue"],
    summary: "List the files of a comment",
    middleware: [inRepo("read:issue")] as const,
    request: { params: CommentPath },
    responses: { 200: json(z.array(Attachment), "The files, oldest first"), ...refusals(401, 404) },
  }),
  async (c) => c.json(await listFiles(c.var, c.req.valid("param")), 200),
);

attachments.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/issues/comments/{id}/assets",
    operationId: "issueCreateIssueCommentAttachment",
    tags: ["issue"],
    summary: "Attach a file to a comment",
    middleware: [signedInRepo("write:issue")] as const,
    request: { params: CommentPath, query: NewAttachment, body: upload },
    responses: {
      201: json(Attachment, "The new file"),
      ...refusals(400, 401, 403, 404, 413, 422, 423),
    },
  }),
  async (c) =>
    c.json(await attach(c.var, c.req.raw, c.req.valid("param"), c.req.valid("query")), 201),
);

attachments.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/issues/comments/{id}/assets/{attachment_id}",
    operationId: "issueGetIssueCommentAttachment",
    tags: ["issue"],
    summary: "Get a file of a comment",
    middleware: [inRepo("read:issue")] as const,
    request: { params: CommentAttachmentPath },
    responses: { 200: json(Attachment, "The file"), ...refusals(401, 404) },
  }),
  async (c) => {
    const { attachment } = await findFile(c.var, c.req.valid("param"));
    return c.json(toAttachment(attachment, c.var.viewer), 200);
  },
);

attachments.openapi(
  createRoute({
    method: "patch",
    path: "/repos/{owner}/{repo}/issues/comments/{id}/assets/{attachment_id}",
    operationId: "issueEditIssueCommentAttachment",
    tags: ["issue"],
    summary: "Rename a file of a comment",
    middleware: [signedInRepo("write:issue")] as const,
    request: {
      params: CommentAttachmentPath,
      body: { required: true, ...json(EditAttachmentOptions, "The new name") },
    },
    responses: {
      201: json(Attachment, "The edited file"),
      ...refusals(401, 403, 404, 413, 422, 423),
    },
  }),
  async (c) =>
    c.json(await rename(c.var, c.req.valid("param"), c.req.valid("json").name ?? ""), 201),
);

attachments.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/issues/comments/{id}/assets/{attachment_id}",
    operationId: "issueDeleteIssueCommentAttachment",
    tags: ["issue"],
    summary: "Delete a file of a comment",
    middleware: [signedInRepo("write:issue")] as const,
    request: { params: CommentAttachmentPath },
    responses: { 204: empty("The file is deleted"), ...refusals(401, 403, 404, 423) },
  }),
  (c) =>
    done(c, async ({ ctx }) => deleteAttachment(ctx, await findFile(c.var, c.req.valid("param")))),
);

/** The variables of a request that names an issue or comment. */
type Variables = Pick<GuardVariables, "ctx" | "viewer"> & { readonly repo: RepositoryContext };
type SubjectName = Parameters<typeof findSubject>[2];

async function listFiles({ ctx, repo, viewer }: Variables, name: SubjectName) {
  const files = filesOf(await findSubject(ctx, repo, name));
  return files.map((each) => toAttachment(each, viewer));
}

const findFile = (
  { ctx, repo }: Omit<Variables, "viewer">,
  param: SubjectName & { readonly attachment_id: number },
) => findAttachment(ctx, repo, param, param.attachment_id);

async function rename(
  variables: Variables,
  param: SubjectName & { readonly attachment_id: number },
  name: string,
) {
  const found = await findFile(variables, param);
  return toAttachment(await renameAttachment(variables.ctx, found, name), variables.viewer);
}

/** Stores the file in the form of a request. */
async function attach(
  { ctx, repo, viewer }: Variables,
  request: Request,
  subjectName: SubjectName,
  { name, updated_at: createdAt }: z.output<typeof NewAttachment>,
) {
  const subject = await findSubject(ctx, repo, subjectName);
  // Before the body is read, which may be long.
  requireAttaching(ctx, subject);
  if (createdAt !== undefined) {
    requireDating(subject.issue);
    if (createdAt > ctx.now) throw invalidField("updated_at", "must not be in the future");
  }
  const { attachmentMaxMib } = ctx.config;
  const length = Number(request.headers.get("content-length") ?? 0);
  if (length > attachmentMaxMib * MIB + MULTIPART_EXTRA_BYTES_MAX) {
    throw tooLarge(`the file is larger than ${attachmentMaxMib} MiB`);
  }
  const type = request.headers.get("content-type") ?? "";
  const stream = request.body ?? new Blob([]).stream();
  const file = await openFormFile(type, stream, "attachment");
  if (!file) throw malformed("the form has no file in its field attachment");
  const storing = storeAttachment(ctx, subject, file, { name, createdAt });
  // Storing, and the cleanup after a failure, completes even if the client disconnects.
  ctx.defer(storing.catch(() => undefined));
  return toAttachment(await storing, viewer);
}
