import { createRoute, z } from "@hono/zod-openapi";

import { changeFiles } from "../../domain/code/contents/change-files.ts";
import { type ContentRef, toContents } from "../../shapes/contents/contents.ts";
import {
  FileDeleteResponse,
  FileResponse,
  FilesResponse,
  toCreatedCommit,
} from "../../shapes/contents/file-change.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { requireUser } from "../guards/guard.ts";
import { inRepo } from "../guards/repository.ts";
import { body, optionalText, requiredText, takesFiles } from "../json-body.ts";
import { RepoPath } from "../repos/paths.ts";
import { base64, COMMIT_OPTIONS, toCommitOptions } from "./commit-options.ts";
import { FilePath } from "./paths.ts";

/** Maximum operations of one request. */
const FILES_MAX = 2000;
const PATH_MAX = 4096;
const SHA_MAX = 64;

const CreateFile = body({ ...COMMIT_OPTIONS, content: base64() }).openapi("CreateFileOptions");

const UpdateFile = body({
  ...COMMIT_OPTIONS,
  content: base64(),
  sha: optionalText(SHA_MAX).openapi({
    description: "The id of the blob to replace; a file is created if empty",
  }),
  from_path: optionalText(PATH_MAX).openapi({
    description: "The current path of the file, to rename it",
  }),
}).openapi("UpdateFileOptions");

const DeleteFile = body({
  ...COMMIT_OPTIONS,
  sha: requiredText(SHA_MAX).openapi({ description: "The id of the blob to delete" }),
}).openapi("DeleteFileOptions");

const ChangeFileOperation = body({
  operation: z.enum(["create", "update", "upload", "rename", "delete"]).openapi({
    description: "What to do with the file; `upload` creates or updates it",
  }),
  path: requiredText(PATH_MAX),
  content: base64().optional(),
  sha: optionalText(SHA_MAX).openapi({
    description: "The id of the blob to update, rename or delete",
  }),
  from_path: optionalText(PATH_MAX).openapi({
    description: "The current path of the file, to rename it",
  }),
}).openapi("ChangeFileOperation");

const ChangeFiles = body({
  ...COMMIT_OPTIONS,
  files: z.array(ChangeFileOperation).min(1).max(FILES_MAX),
}).openapi("ChangeFilesOptions");

const inWritable = () => inRepo("write:repository", { unit: "code", mode: "write" });
const REFUSALS = refusals(401, 403, 404, 409, 413, 422, 423);

export const fileChanges = endpoints();

fileChanges.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/contents",
    operationId: "repoChangeFiles",
    tags: ["repository"],
    summary: "Change several files in one commit",
    middleware: [inWritable(), takesFiles] as const,
    request: { params: RepoPath, body: { required: true, ...json(ChangeFiles, "The changes") } },
    responses: { 201: json(FilesResponse, "The files and the commit"), ...REFUSALS },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { files, ...options } = c.req.valid("json");
    const operations = files.map(({ operation: kind, path, sha, from_path: fromPath, content }) => {
      // A client without content to send may send an empty string.
      const hasNoContent = kind === "delete" || (kind === "rename" && content?.length === 0);
      return { kind, path, sha, fromPath, content: hasNoContent ? undefined : content };
    });
    const user = requireUser(ctx.actor);
    const commitOptions = toCommitOptions(options);
    const { items, made } = await changeFiles(ctx, repo, user, operations, commitOptions);
    const contentRef = branchContentRef(repo, made.branch);
    const listed = items.map((item) => (item ? toContents(item, contentRef, viewer) : null));
    return c.json({ files: listed, ...toCreatedCommit(repo, made, viewer) }, 201);
  },
);

fileChanges.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/contents/{filepath*}",
    operationId: "repoCreateFile",
    tags: ["repository"],
    summary: "Create a file",
    middleware: [inWritable(), takesFiles] as const,
    request: { params: FilePath, body: { required: true, ...json(CreateFile, "The file") } },
    responses: { 201: json(FileResponse, "The file and the commit"), ...REFUSALS },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { content, ...options } = c.req.valid("json");
    const { filepath: path } = c.req.valid("param");
    const operation = { kind: "create", path, content } as const;
    const user = requireUser(ctx.actor);
    const { items, made } = await changeFiles(
      ctx,
      repo,
      user,
      [operation],
      toCommitOptions(options),
    );
    const [item] = items;
    const listed = item ? toContents(item, branchContentRef(repo, made.branch), viewer) : null;
    return c.json({ content: listed, ...toCreatedCommit(repo, made, viewer) }, 201);
  },
);

fileChanges.openapi(
  createRoute({
    method: "put",
    path: "/repos/{owner}/{repo}/contents/{filepath*}",
    operationId: "repoUpdateFile",
    tags: ["repository"],
    summary: "Update or create a file",
    description: "Creates the file if neither `sha` nor `from_path` is sent.",
    middleware: [inWritable(), takesFiles] as const,
    request: { params: FilePath, body: { required: true, ...json(UpdateFile, "The file") } },
    responses: {
      200: json(FileResponse, "The file and the commit"),
      201: json(FileResponse, "The new file and the commit"),
      ...REFUSALS,
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { content, sha, from_path: fromPath, ...options } = c.req.valid("json");
    const { filepath: path } = c.req.valid("param");
    const kind = sha || fromPath ? "update" : "create";
    const operation = { kind, path, fromPath, content, sha } as const;
    const user = requireUser(ctx.actor);
    const { items, made } = await changeFiles(
      ctx,
      repo,
      user,
      [operation],
      toCommitOptions(options),
    );
    const [item] = items;
    const listed = item ? toContents(item, branchContentRef(repo, made.branch), viewer) : null;
    const answer = { content: listed, ...toCreatedCommit(repo, made, viewer) };
    return c.json(answer, kind === "create" ? 201 : 200);
  },
);

fileChanges.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/contents/{filepath*}",
    operationId: "repoDeleteFile",
    tags: ["repository"],
    summary: "Delete a file",
    middleware: [inWritable(), takesFiles] as const,
    request: { params: FilePath, body: { required: true, ...json(DeleteFile, "The file") } },
    responses: { 200: json(FileDeleteResponse, "The commit"), ...REFUSALS },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { sha, ...options } = c.req.valid("json");
    const { filepath: path } = c.req.valid("param");
    const operation = { kind: "delete", path, sha } as const;
    const user = requireUser(ctx.actor);
    const { made } = await changeFiles(ctx, repo, user, [operation], toCommitOptions(options));
    return c.json({ content: null, ...toCreatedCommit(repo, made, viewer) }, 200);
  },
);

const branchContentRef = (repository: RepositoryContext, name: string): ContentRef => ({
  repository,
  kind: "branch",
  name,
});
