import { z } from "@hono/zod-openapi";

import { LABEL_TEMPLATES } from "../../domain/code/templates/label-templates.ts";
import type { NewRepository } from "../../domain/repos/repository/create-repository.ts";
import { body, optionalFlag, optionalText, requiredText } from "../json-body.ts";
import { EXPIRY_FIELDS, toExpiryInput } from "./expiry-fields.ts";

const TRUST_MODELS = ["default", "collaborator", "committer", "collaboratorcommitter"] as const;

export const CreateRepository = body({
  name: requiredText(100),
  description: optionalText(2048),
  private: optionalFlag(),
  template: optionalFlag(),
  default_branch: optionalText(100),
  // An unknown model counts as `default`, as in Gitea.
  trust_model: z
    .enum(TRUST_MODELS)
    .catch("default")
    .optional()
    .openapi({ type: "string", enum: [...TRUST_MODELS] }),
  object_format_name: z.enum(["", "sha1"]).optional(),
  auto_init: optionalFlag().openapi({
    description: "Create an initial commit; if false, gitignores, license and readme are ignored",
  }),
  gitignores: optionalText(1024).openapi({
    description: "Names of gitignore templates, separated by commas",
  }),
  license: optionalText(100).openapi({ description: "The SPDX id of a license template" }),
  readme: optionalText(100).openapi({
    description: "The readme template; `Default` is the only one",
  }),
  issue_labels: z
    .enum(["", ...LABEL_TEMPLATES])
    .optional()
    .openapi({ description: "The template of the first labels" }),
  ...EXPIRY_FIELDS,
}).openapi("CreateRepoOption");

/** Converts a request body into the input for a new repository. */
export const toNewRepository = (sent: z.infer<typeof CreateRepository>): NewRepository => ({
  ...sent,
  expiry: toExpiryInput(sent),
});
