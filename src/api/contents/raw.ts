import { createRoute, z } from "@hono/zod-openapi";

import type { Ctx } from "../../context.ts";
import { findNamedFile } from "../../domain/code/contents/find-file.ts";
import { openBlob, openMedia } from "../../domain/code/contents/open-content.ts";
import { answerRepositoryFile } from "../../entrance/answer-file.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { header, HEADERS, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { FilePath, RefQuery } from "./paths.ts";

export const raw = endpoints();

/** The media type depends on the content of the file. */
const ANY_CONTENT = { "*/*": { schema: z.string().openapi({ format: "binary" }) } };
const FILE_HEADERS = {
  ...HEADERS.download,
  ...HEADERS.dated,
  "Accept-Ranges": header("string", "`bytes`"),
  "X-Gitea-Object-Type": header("string", "`file` or `symlink`"),
};
const CONTENT_RANGE = header("string", "The range, and the size of the file in bytes");

const bytes = {
  200: {
    description: "The bytes of the file; for a symlink, its target path",
    content: ANY_CONTENT,
    headers: FILE_HEADERS,
  },
  206: {
    description: "The range requested by `Range`",
    content: ANY_CONTENT,
    headers: { ...FILE_HEADERS, "Content-Range": CONTENT_RANGE },
  },
  416: {
    description: "The requested range is outside the file",
    headers: { ...FILE_HEADERS, "Content-Range": CONTENT_RANGE },
  },
  ...refusals(401, 403, 404, 413, 422),
};

raw.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/raw/{filepath*}",
    operationId: "repoGetRawFile",
    tags: ["repository"],
    summary: "Get the raw content of a file",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: { params: FilePath, query: RefQuery },
    responses: bytes,
  }),
  (c) =>
    answerRaw(c.var, c.req.raw, { ...c.req.valid("param"), ...c.req.valid("query") }, openBlob),
);

raw.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/media/{filepath*}",
    operationId: "repoGetRawFileOrLFS",
    tags: ["repository"],
    summary: "Get the raw content of a file, resolving LFS pointers",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: { params: FilePath, query: RefQuery },
    responses: bytes,
  }),
  (c) =>
    answerRaw(c.var, c.req.raw, { ...c.req.valid("param"), ...c.req.valid("query") }, openMedia),
);

const answerRaw = (
  { ctx, repo }: { ctx: Ctx; repo: RepositoryContext },
  request: Request,
  { filepath, ref }: { filepath: string; ref: string },
  openContent: typeof openBlob,
): Promise<Response> =>
  answerRepositoryFile(
    { ctx, repo, request },
    (snapshot) => findNamedFile(snapshot, repo, filepath, ref),
    openContent,
  );
