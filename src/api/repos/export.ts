import { createRoute, z } from "@hono/zod-openapi";

import { EXPORT_MEDIA_TYPE } from "../../domain/exchange/exports/export-files.ts";
import { exportRepository } from "../../domain/exchange/exports/export-repository.ts";
import { answerDownload } from "../../lib/download.ts";
import { log } from "../../lib/log.ts";
import { HEADERS, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { RepoPath } from "./paths.ts";

export const exports = endpoints();

exports.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/export",
    operationId: "repoExport",
    tags: ["repository"],
    summary: "Export a repository with everything that belongs to it",
    description:
      "A zip file of a bundle of git, with labels, milestones, issues, pull requests, comments, reviews and releases as JSON, and the files of releases. It is made while it is sent.",
    middleware: [inRepo(["read:repository", "read:issue"], { mode: "admin" })] as const,
    request: { params: RepoPath },
    responses: {
      200: {
        description: "The export",
        content: {
          [EXPORT_MEDIA_TYPE]: { schema: z.string().openapi({ format: "binary" }) },
        },
        headers: HEADERS.download,
      },
      ...refusals(401, 403, 404),
    },
  }),
  (c) => {
    const { ctx, repo, requestId } = c.var;
    const { method } = c.req;
    const file = exportRepository(ctx, repo);
    return answerDownload({ method, headers: new Headers() }, file, (sentBytes) =>
      log("export:sent", { id: requestId, repoId: repo.row.id, sentBytes }),
    );
  },
);
