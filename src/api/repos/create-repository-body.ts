import { z } from "@hono/zod-openapi";

import { invalid } from "../../lib/failure.ts";
import { body, optionalFlag, optionalText, requiredText } from "../json-body.ts";

const TRUST_MODELS = ["default", "collaborator", "committer", "collaboratorcommitter"] as const;

export const CreateRepository = body({
  name: requiredText(100),
  description: optionalText(2048),
  private: optionalFlag(),
  template: optionalFlag(),
  default_branch: optionalText(100),
  // An unknown model means the server's own, as clients of the field expect.
  trust_model: z
    .enum(TRUST_MODELS)
    .catch("default")
    .optional()
    .openapi({ type: "string", enum: [...TRUST_MODELS] }),
  object_format_name: z.enum(["", "sha1"], "only sha1 is supported").optional(),
  auto_init: optionalFlag().openapi({
    description: "Begin with a commit; without, gitignores, license and readme are ignored",
  }),
  gitignores: optionalText(1024).openapi({ description: "Names of templates, between commas" }),
  license: optionalText(100).openapi({ description: "An SPDX id" }),
  readme: optionalText(100).openapi({ description: "Default, the only template" }),
  issue_labels: optionalText(100),
}).openapi("CreateRepoOption");

/**
 * Refuses to promise labels, which can't be written yet.
 *
 * @throws Failure `invalid` naming the field.
 */
export function refuseLabels(wanted: z.infer<typeof CreateRepository>): void {
  if (wanted.issue_labels) throw invalid("issue_labels is not available yet");
}
