import { createRoute, z } from "@hono/zod-openapi";

import { findGitignore, listGitignores } from "../../domain/code/templates/gitignores.ts";
import { notFound } from "../../lib/failure.ts";
import { json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { anyone } from "../guards/people.ts";

export const gitignoreTemplates = endpoints();

const GitignoreTemplateInfo = z
  .object({
    name: z.string().openapi({ example: "Go" }),
    source: z.string().openapi({ description: "The text of the template" }),
  })
  .openapi("GitignoreTemplateInfo");

gitignoreTemplates.openapi(
  createRoute({
    method: "get",
    path: "/gitignore/templates",
    operationId: "listGitignoresTemplates",
    tags: ["miscellaneous"],
    summary: "List the names of the gitignore templates",
    middleware: [anyone()] as const,
    responses: { 200: json(z.array(z.string()), "The names, in alphabetical order") },
  }),
  async (c) => c.json(await listGitignores(), 200),
);

gitignoreTemplates.openapi(
  createRoute({
    method: "get",
    path: "/gitignore/templates/{name}",
    operationId: "getGitignoreTemplateInfo",
    tags: ["miscellaneous"],
    summary: "Get a gitignore template",
    middleware: [anyone()] as const,
    request: {
      params: z.object({ name: z.string().openapi({ description: "The name of the template" }) }),
    },
    responses: { 200: json(GitignoreTemplateInfo, "The template"), ...refusals(404) },
  }),
  async (c) => {
    const template = await findGitignore(c.req.valid("param").name);
    if (!template) throw notFound();
    return c.json({ name: template.name, source: template.text }, 200);
  },
);
