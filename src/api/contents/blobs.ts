import { createRoute, z } from "@hono/zod-openapi";

import { findObject } from "../../domain/code/contents/find-object.ts";
import { readBlob } from "../../domain/code/contents/read-blob.ts";
import { readSnapshot } from "../../domain/code/git/open-snapshot.ts";
import { resident } from "../../git/catalog/block-pool.ts";
import { BLOB } from "../../git/object/kind.ts";
import { malformed } from "../../lib/failure.ts";
import { GitBlobResponse, toGitBlob } from "../../shapes/git/git-blob.ts";
import { json, refusals } from "../answers.ts";
import { immutableHeaders } from "../../entrance/immutable-headers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { RepoPath } from "../repos/paths.ts";

export const blobs = endpoints();

blobs.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/git/blobs/{sha}",
    operationId: "GetBlob",
    tags: ["repository"],
    summary: "Get a blob",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: {
      params: RepoPath.extend({ sha: z.string().openapi({ description: "The id of the blob" }) }),
    },
    responses: {
      200: json(GitBlobResponse, "The blob, with its content up to 10 MiB"),
      ...refusals(400, 401, 403, 404, 413),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const blob = await readSnapshot(ctx, repo, async (snapshot) => {
      const { repository } = snapshot;
      const location = await findObject(snapshot, c.req.valid("param").sha);
      const kind = location && (await resident(() => repository.catalog.kind(location)));
      if (!location || kind !== BLOB) throw malformed("sha not found");
      return readBlob(repository, location);
    });
    return c.json(toGitBlob(blob, repo, viewer), 200, immutableHeaders(c.var, repo));
  },
);
