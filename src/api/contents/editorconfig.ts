import { createRoute, z } from "@hono/zod-openapi";

import { findContentRevision, splitPath } from "../../domain/code/contents/find-entry.ts";
import { findDefinition } from "../../domain/code/editorconfig/find-definition.ts";
import { noSuchRef } from "../../domain/code/git/no-such-ref.ts";
import { readSnapshot } from "../../domain/code/git/open-snapshot.ts";
import { notFound } from "../../lib/failure.ts";
import { json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { FilePath, RefQuery } from "./paths.ts";

export const editorconfig = endpoints();

editorconfig.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/editorconfig/{filepath*}",
    operationId: "repoGetEditorConfig",
    tags: ["repository"],
    summary: "Get the EditorConfig properties of a path",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: { params: FilePath, query: RefQuery },
    responses: {
      200: json(z.record(z.string(), z.string()), "The properties by name"),
      ...refusals(401, 403, 404, 413, 422),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const names = splitPath(c.req.valid("param").filepath);
    const isPath = names.every((name) => name !== "." && name !== ".." && !name.includes("\0"));
    const found = await readSnapshot(ctx, repo, async (snapshot) => {
      const revision = await findContentRevision(snapshot, repo, c.req.valid("query").ref);
      if (!revision) throw noSuchRef(snapshot);
      const root = await snapshot.repository.graph.loadRoot(revision.node);
      return root && isPath ? findDefinition(snapshot.repository, root, names) : undefined;
    });
    if (!found) throw notFound("no such path", "no-such-path");
    return c.json(found, 200);
  },
);
