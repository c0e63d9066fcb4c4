import { createRoute, z } from "@hono/zod-openapi";

import { generateRepository } from "../../domain/exchange/generate/generate-repository.ts";
import { findCreationContext } from "../../domain/repos/repository/find-creation-context.ts";
import { invalid } from "../../lib/failure.ts";
import { Repository, toRepository } from "../../shapes/repos/repository.ts";
import { json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { signedInRepo } from "../guards/repository.ts";
import { body, optionalFlag, optionalText, requiredText } from "../json-body.ts";
import { EXPIRY_FIELDS, toExpiryInput } from "./expiry-fields.ts";

const GenerateRepository = body({
  owner: optionalText(40)
    .default("")
    .openapi({ description: "The user or organization that owns the new repository" }),
  name: requiredText(100),
  default_branch: optionalText(100).openapi({ description: "The template's, if empty" }),
  description: optionalText(2048),
  private: optionalFlag(),
  git_content: optionalFlag().openapi({
    description: "Copy the files of the template's default branch as the first commit",
  }),
  topics: optionalFlag(),
  webhooks: optionalFlag().openapi({
    description: "Copy the webhooks; for administrators of the template",
  }),
  avatar: optionalFlag(),
  git_hooks: optionalFlag().openapi({ description: "Accepted: there are no git hooks to copy" }),
  labels: optionalFlag().openapi({ description: "Copy the labels of the template" }),
  protected_branch: optionalFlag().openapi({
    description: "Copy the branch protections of the template",
  }),
  ...EXPIRY_FIELDS,
}).openapi("GenerateRepoOption");

const TemplatePath = z.object({
  template_owner: z.string().openapi({ description: "The owner of the template" }),
  template_repo: z.string().openapi({ description: "The template's name" }),
});

export const generate = endpoints();

generate.openapi(
  createRoute({
    method: "post",
    path: "/repos/{template_owner}/{template_repo}/generate",
    operationId: "generateRepo",
    tags: ["repository"],
    summary: "Generate a repository from a template",
    description:
      "The files that `.gitea/template` lists, and their paths, have variables such as `${REPO_NAME}` replaced.",
    middleware: [
      signedInRepo(
        "write:repository",
        { unit: "code", mode: "read" },
        { owner: "template_owner", repo: "template_repo" },
      ),
    ] as const,
    request: {
      params: TemplatePath,
      body: { required: true, ...json(GenerateRepository, "The repository") },
    },
    responses: {
      201: json(Repository, "The new repository"),
      ...refusals(401, 403, 404, 409, 413, 422),
    },
  }),
  async (c) => {
    const { ctx, repo: template, user, viewer } = c.var;
    const sent = c.req.valid("json");
    const items = [
      sent.git_content,
      sent.topics,
      sent.webhooks,
      sent.avatar,
      sent.git_hooks,
      sent.labels,
      sent.protected_branch,
    ];
    if (!items.includes(true)) throw invalid("must select at least one template item");
    const creation = await findCreationContext(ctx, user, sent.owner);
    const repo = await generateRepository(ctx, template, creation, {
      name: sent.name,
      description: sent.description ?? "",
      isPrivate: sent.private ?? false,
      defaultBranch: sent.default_branch ?? "",
      hasContent: sent.git_content ?? false,
      hasTopics: sent.topics ?? false,
      hasWebhooks: sent.webhooks ?? false,
      hasAvatar: sent.avatar ?? false,
      hasLabels: sent.labels ?? false,
      hasBranchRules: sent.protected_branch ?? false,
      expiry: toExpiryInput(sent),
    });
    return c.json(toRepository(repo, viewer), 201);
  },
);
