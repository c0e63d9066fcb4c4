import { createRoute, z } from "@hono/zod-openapi";

import { findLabelTemplate, LABEL_TEMPLATES } from "../../domain/code/templates/label-templates.ts";
import { notFound } from "../../lib/failure.ts";
import { json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { anyone } from "../guards/people.ts";

export const labelTemplates = endpoints();

const LabelTemplate = z
  .object({
    name: z.string(),
    exclusive: z.boolean().openapi({
      description: "Whether an issue has at most one label of the same scope",
    }),
    color: z.string().openapi({ example: "00aabb" }),
    description: z.string(),
  })
  .openapi("LabelTemplate");

labelTemplates.openapi(
  createRoute({
    method: "get",
    path: "/label/templates",
    operationId: "listLabelTemplates",
    tags: ["miscellaneous"],
    summary: "List the names of the label templates",
    middleware: [anyone()] as const,
    responses: { 200: json(z.array(z.string()), "The names, in alphabetical order") },
  }),
  (c) => c.json([...LABEL_TEMPLATES], 200),
);

labelTemplates.openapi(
  createRoute({
    method: "get",
    path: "/label/templates/{name}",
    operationId: "getLabelTemplateInfo",
    tags: ["miscellaneous"],
    summary: "List the labels of a label template",
    middleware: [anyone()] as const,
    request: {
      params: z.object({
        name: z.string().openapi({ description: "The name of the set of labels" }),
      }),
    },
    responses: { 200: json(z.array(LabelTemplate), "The labels"), ...refusals(404) },
  }),
  (c) => {
    const labels = findLabelTemplate(c.req.valid("param").name);
    if (!labels) throw notFound();
    return c.json([...labels], 200);
  },
);
