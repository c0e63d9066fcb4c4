import { z } from "@hono/zod-openapi";

import type { Label as LabelRow } from "../../db/schema/index.ts";
import { Int64 } from "../json.ts";
import type { RepositoryContext } from "../repos/repository.ts";
import { apiRootOf, apiUrlOf } from "../urls.ts";
import type { Viewer } from "../viewer.ts";

export const Label = z
  .object({
    id: Int64,
    name: z.string(),
    exclusive: z.boolean(),
    is_archived: z.boolean(),
    color: z.string().openapi({ example: "ee0701", description: "Six lower-case hex digits" }),
    description: z.string(),
    url: z.string().openapi({ format: "uri" }),
  })
  .openapi("Label");
export type Label = z.infer<typeof Label>;

/**
 * Formats a label of a repository, or one of its owner where `repo` has it from an organization.
 */
export const toLabel = (label: LabelRow, repo: RepositoryContext, viewer: Viewer): Label =>
  label.repoId === null
    ? toOrganizationLabel(label, repo.owner.name, viewer)
    : { ...toFields(label), url: `${apiUrlOf(repo, viewer)}/labels/${label.id}` };

/** Formats a label of an organization. */
export const toOrganizationLabel = (label: LabelRow, org: string, viewer: Viewer): Label => ({
  ...toFields(label),
  url: `${apiRootOf(viewer)}/orgs/${org}/labels/${label.id}`,
});

const toFields = (label: LabelRow): Omit<Label, "url"> => ({
  id: label.id,
  name: label.name,
  exclusive: label.isExclusive,
  is_archived: label.archivedAt !== null,
  color: label.color,
  description: label.description,
});
