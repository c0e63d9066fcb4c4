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
  auto_init: optionalFlag(),
  gitignores: optionalText(1024),
  license: optionalText(100),
  readme: optionalText(100),
  issue_labels: optionalText(100),
}).openapi("CreateRepoOption");

/** What asks for a first commit or first labels. */
const CONTENT_FIELDS = ["gitignores", "license", "readme", "issue_labels"] as const;

/**
 * Refuses to promise content that can't be written yet.
 *
 * @throws Failure `invalid` naming the field.
 */
export function refuseContent(wanted: z.infer<typeof CreateRepository>): void {
  const asked = wanted.auto_init ? "auto_init" : CONTENT_FIELDS.find((field) => wanted[field]);
  if (asked) throw invalid(`${asked} is not available yet: create the repository empty`);
}
