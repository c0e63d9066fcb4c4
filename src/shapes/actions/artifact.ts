import { z } from "@hono/zod-openapi";

import type { WorkflowArtifact, WorkflowRun as RunRow } from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { Int64, Time } from "../json.ts";
import type { RepositoryContext } from "../repos/repository.ts";
import { apiUrlOf } from "../urls.ts";
import type { Viewer } from "../viewer.ts";

export const Artifact = z
  .object({
    id: Int64,
    name: z.string(),
    size_in_bytes: Int64.openapi({ description: "Of its files, unpacked, or of its one file" }),
    url: z.string().openapi({ format: "uri" }),
    archive_download_url: z.string().openapi({ format: "uri" }),
    expired: z.boolean().openapi({ description: "Whether its content was deleted" }),
    digest: z
      .string()
      .optional()
      .openapi({ description: "The hash of its one file", example: "sha256:2c26b4…" }),
    workflow_run: z
      .object({ id: Int64, repository_id: Int64, head_sha: z.string() })
      .openapi("ActionArtifactRun"),
    created_at: Time,
    updated_at: Time,
    expires_at: Time,
  })
  .openapi("ActionArtifact");

export const ArtifactPage = z
  .object({ artifacts: z.array(Artifact), total_count: Int64 })
  .openapi("ActionArtifactsResponse");

/** The API URL of an artifact. */
export const artifactUrlOf = (
  repo: RepositoryContext,
  { id }: Pick<WorkflowArtifact, "id">,
  root: { readonly rootUrl: string },
): string => `${apiUrlOf(repo, root)}/actions/artifacts/${id}`;

export function toArtifact(
  repo: RepositoryContext,
  { artifact, run }: { readonly artifact: WorkflowArtifact; readonly run: Pick<RunRow, "headOid"> },
  viewer: Viewer,
): z.infer<typeof Artifact> {
  const url = artifactUrlOf(repo, artifact, viewer);
  return {
    id: artifact.id,
    name: artifact.name,
    size_in_bytes: artifact.sizeBytes,
    url,
    archive_download_url: `${url}/zip`,
    expired: artifact.state === "expired",
    ...(artifact.sha256 !== "" && { digest: `sha256:${artifact.sha256}` }),
    workflow_run: { id: artifact.runId, repository_id: artifact.repoId, head_sha: run.headOid },
    created_at: formatTime(artifact.createdAt),
    updated_at: formatTime(artifact.updatedAt),
    expires_at: formatTime(artifact.expiresAt),
  };
}
