import { z } from "@hono/zod-openapi";

import type { WorkflowRow } from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { Int64, NEVER, Time } from "../json.ts";
import type { RepositoryContext } from "../repos/repository.ts";
import { apiUrlOf, htmlUrlOf } from "../urls.ts";
import type { Viewer } from "../viewer.ts";

export const Workflow = z
  .object({
    id: z.string().openapi({ description: "The name of the file", example: "ci.yml" }),
    name: z.string(),
    path: z.string().openapi({ example: ".gitea/workflows/ci.yml" }),
    state: z.enum(["active", "disabled_manually"]),
    created_at: Time,
    updated_at: Time,
    url: z.string().openapi({ format: "uri" }),
    html_url: z.string().openapi({ format: "uri" }),
    badge_url: z.string().openapi({ format: "uri" }),
    deleted_at: Time,
  })
  .openapi("ActionWorkflow");

export const WorkflowPage = z
  .object({ workflows: z.array(Workflow), total_count: Int64 })
  .openapi("ActionWorkflowResponse");

export function toWorkflow(
  { row: repo, owner, ...rest }: RepositoryContext,
  workflow: WorkflowRow,
  viewer: Viewer,
): z.infer<typeof Workflow> {
  const context = { row: repo, owner, ...rest };
  const { file } = workflow;
  const path = workflow.path.split("/").map(encodeURIComponent).join("/");
  const branch = repo.defaultBranch.split("/").map(encodeURIComponent).join("/");
  const actions = `${htmlUrlOf(context, viewer)}/actions`;
  return {
    id: file,
    name: workflow.name,
    path: workflow.path,
    state: workflow.isDisabled ? "disabled_manually" : "active",
    created_at: formatTime(workflow.createdAt),
    updated_at: formatTime(workflow.updatedAt),
    url: `${apiUrlOf(context, viewer)}/actions/workflows/${encodeURIComponent(file)}`,
    html_url: `${htmlUrlOf(context, viewer)}/src/branch/${branch}/${path}`,
    badge_url: `${actions}/workflows/${encodeURIComponent(file)}/badge.svg`,
    deleted_at: NEVER,
  };
}
