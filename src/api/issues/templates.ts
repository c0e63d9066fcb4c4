import { createRoute, z } from "@hono/zod-openapi";

import { findIssueConfig, listIssueTemplates } from "../../domain/issues/issue/find-templates.ts";
import { DEFAULT_ISSUE_CONFIG } from "../../domain/issues/issue/issue-config.ts";
import type { IssueTemplate as ParsedTemplate } from "../../domain/issues/issue/issue-template.ts";
import {
  IssueConfig,
  IssueConfigValidation,
  IssueTemplate,
} from "../../shapes/issues/issue-template.ts";
import { HEADERS, json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { RepoPath } from "../repos/paths.ts";

export const issueTemplates = endpoints();

issueTemplates.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/issue_templates",
    operationId: "repoGetIssueTemplates",
    tags: ["repository"],
    summary: "List a repository's issue templates",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: { params: RepoPath },
    responses: {
      200: {
        ...json(z.array(IssueTemplate), "The valid templates of the default branch"),
        headers: HEADERS.invalidTemplates,
      },
      ...refusals(401, 403, 404, 413),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const { templates, invalidCount } = await listIssueTemplates(ctx, repo);
    if (invalidCount > 0) {
      c.header(
        "X-Gitea-Warning",
        `error occurs when parsing issue template: count=${invalidCount}`,
      );
    }
    return c.json(templates.map(toIssueTemplate), 200);
  },
);

issueTemplates.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/issue_config",
    operationId: "repoGetIssueConfig",
    tags: ["repository"],
    summary: "Get a repository's issue configuration",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: { params: RepoPath },
    responses: {
      200: json(
        IssueConfig,
        "The configuration; the default configuration if the file is missing or invalid",
      ),
      ...refusals(401, 403, 404, 413),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const { config } = await findIssueConfig(ctx, repo);
    const { isBlankAllowed, links } = typeof config === "string" ? DEFAULT_ISSUE_CONFIG : config;
    return c.json({ blank_issues_enabled: isBlankAllowed, contact_links: links }, 200);
  },
);

issueTemplates.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/issue_config/validate",
    operationId: "repoValidateIssueConfig",
    tags: ["repository"],
    summary: "Validate a repository's issue configuration",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: { params: RepoPath },
    responses: {
      200: json(
        IssueConfigValidation,
        "Whether the configuration is valid, and the error if it is not",
      ),
      ...refusals(401, 403, 404, 413),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const { config } = await findIssueConfig(ctx, repo);
    const message = typeof config === "string" ? config : "";
    return c.json({ valid: typeof config !== "string", message }, 200);
  },
);

const toIssueTemplate = ({
  path,
  fields,
  ...template
}: ParsedTemplate): z.infer<typeof IssueTemplate> => ({
  ...template,
  body: (fields as z.infer<typeof IssueTemplate>["body"] | undefined) ?? null,
  file_name: path,
});
