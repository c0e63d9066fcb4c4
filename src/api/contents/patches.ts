import { createRoute, z } from "@hono/zod-openapi";

import { patchFiles } from "../../domain/code/contents/patch-files.ts";
import { FileResponse, toCreatedCommit } from "../../shapes/contents/file-change.ts";
import { json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { requireUser } from "../guards/guard.ts";
import { inRepo } from "../guards/repository.ts";
import { body, takesFiles } from "../json-body.ts";
import { RepoPath } from "../repos/paths.ts";
import { COMMIT_OPTIONS, toCommitOptions } from "./commit-options.ts";

const ApplyPatch = body({
  ...COMMIT_OPTIONS,
  content: z.string().min(1).openapi({
    description: "The patch, in the format of `git diff` or `git format-patch`",
  }),
}).openapi("ApplyDiffPatchFileOptions");

export const patches = endpoints();

patches.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/diffpatch",
    operationId: "repoApplyDiffPatch",
    tags: ["repository"],
    summary: "Apply a patch to a repository",
    middleware: [inRepo("write:repository", { unit: "code", mode: "write" }), takesFiles] as const,
    request: { params: RepoPath, body: { required: true, ...json(ApplyPatch, "The patch") } },
    responses: {
      201: json(FileResponse, "The commit"),
      ...refusals(401, 403, 404, 409, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { content, ...options } = c.req.valid("json");
    const user = requireUser(ctx.actor);
    const made = await patchFiles(ctx, repo, user, content, toCommitOptions(options));
    return c.json({ content: null, ...toCreatedCommit(repo, made, viewer) }, 201);
  },
);
