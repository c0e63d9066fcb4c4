import { createRoute, z } from "@hono/zod-openapi";

import { findRun } from "../../domain/actions/runs/find-run.ts";
import { notFound } from "../../lib/failure.ts";
import {
  Artifact,
  ArtifactPage,
  artifactUrlOf,
  toArtifact,
} from "../../shapes/actions/artifact.ts";
import { empty, header, HEADERS, json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { done } from "../handlers.ts";
import { Paging, readPage, setPageHeaders } from "../paging.ts";
import { PathId } from "../path-id.ts";
import { RepoPath } from "../repos/paths.ts";

const ArtifactPath = RepoPath.extend({ artifact_id: PathId });
const RunPath = RepoPath.extend({ run: PathId });
const ArtifactsQuery = Paging.extend({
  name: z.string().optional().openapi({ description: "The name of the artifacts" }),
});

/** Loaded on first use, as all of Actions that is large. */
const loadArtifacts = () => import("../../domain/actions/artifacts/find-artifact.ts");

const reading = inRepo("read:repository", { unit: "actions", mode: "read" });
const writing = inRepo("write:repository", { unit: "actions", mode: "write" });

/** The artifacts of workflows' runs. The field `digest` is an extension of Gitea's API. */
export const artifacts = endpoints();

for (const [path, params, operationId, summary] of [
  ["artifacts", RepoPath, "getArtifacts", "List the artifacts of a repository"],
  ["runs/{run}/artifacts", RunPath, "getArtifactsOfRun", "List the artifacts of a run"],
] as const) {
  artifacts.openapi(
    createRoute({
      method: "get",
      path: `/repos/{owner}/{repo}/actions/${path}` as const,
      operationId,
      tags: ["repository"],
      summary,
      middleware: [reading] as const,
      request: { params, query: ArtifactsQuery },
      responses: {
        200: { ...json(ArtifactPage, "The artifacts, newest first"), headers: HEADERS.page },
        ...refusals(400, 401, 403, 404),
      },
    }),
    async (c) => {
      const { ctx, repo, viewer } = c.var;
      const { name = "", ...query } = c.req.valid("query");
      const place = c.req.valid("param");
      const runId = "run" in place ? place.run : undefined;
      const slice = readPage(ctx.config, query);
      const { listArtifacts } = await loadArtifacts();
      const { items, total } = await listArtifacts(
        ctx,
        { repoId: repo.row.id, runId, name: name === "" ? undefined : name },
        slice,
      );
      if (total === 0 && runId !== undefined) await findRun(ctx, repo.row, { id: runId });
      setPageHeaders(c, slice, total);
      const shown = items.map((item) => toArtifact(repo, item, viewer));
      return c.json({ artifacts: shown, total_count: total }, 200);
    },
  );
}

artifacts.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/actions/artifacts/{artifact_id}",
    operationId: "getArtifact",
    tags: ["repository"],
    summary: "Get an artifact",
    middleware: [reading] as const,
    request: { params: ArtifactPath },
    responses: { 200: json(Artifact, "The artifact"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { findArtifact } = await loadArtifacts();
    const of = { repoId: repo.row.id, id: c.req.valid("param").artifact_id };
    return c.json(toArtifact(repo, await findArtifact(ctx, of), viewer), 200);
  },
);

artifacts.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/actions/artifacts/{artifact_id}",
    operationId: "deleteArtifact",
    tags: ["repository"],
    summary: "Delete an artifact",
    middleware: [writing] as const,
    request: { params: ArtifactPath },
    responses: { 204: empty("The artifact was deleted"), ...refusals(401, 403, 404) },
  }),
  (c) =>
    done(c, async ({ ctx, repo }) => {
      const { findArtifact } = await loadArtifacts();
      const of = { repoId: repo.row.id, id: c.req.valid("param").artifact_id };
      const found = await findArtifact(ctx, of);
      const { deleteArtifact } = await import("../../domain/actions/artifacts/delete-artifact.ts");
      await deleteArtifact(ctx, repo, found);
    }),
);

artifacts.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/actions/artifacts/{artifact_id}/zip",
    operationId: "downloadArtifact",
    tags: ["repository"],
    summary: "Download an artifact, from an address that needs no credential for an hour",
    middleware: [reading] as const,
    request: { params: ArtifactPath },
    responses: {
      302: {
        ...empty("The address of the artifact"),
        headers: { Location: header("string", "The address of the artifact") },
      },
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { findArtifact } = await loadArtifacts();
    const of = { repoId: repo.row.id, id: c.req.valid("param").artifact_id };
    const { artifact } = await findArtifact(ctx, of);
    if (artifact.state !== "ready") throw notFound();
    const { signAddress } = await import("../../domain/actions/artifacts/artifact-address.ts");
    const query = await signAddress(ctx, "zip", { artifactId: artifact.id, taskId: 0 });
    query.delete("artifactID");
    const location = `${artifactUrlOf(repo, artifact, viewer)}/zip/raw?${query.toString()}`;
    return c.body(null, 302, { Location: location });
  },
);
