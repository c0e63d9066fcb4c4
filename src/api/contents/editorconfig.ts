import { createRoute, z } from "@hono/zod-openapi";

import { findContentRevision, splitPath } from "../../domain/contents/find-entry.ts";
import { findDefinition } from "../../domain/editorconfig/find-definition.ts";
import { noSuchRef } from "../../domain/git/no-such-ref.ts";
import { openSnapshot } from "../../domain/git/open-snapshot.ts";
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
    const snapshot = await openSnapshot(ctx, repo);
    const revision = await findContentRevision(snapshot, repo, c.req.valid("query").ref);
    const root = revision && snapshot.repository.graph.root(revision.node);
    const isPath = names.every((name) => name !== "." && name !== ".." && !name.includes("\0"));
    const found = root && isPath && (await findDefinition(snapshot.repository, root, names));
    if (!revision) throw noSuchRef(snapshot);
    if (!found) throw notFound("no such path", "no-such-path");
    return c.json(found, 200);
  },
);
