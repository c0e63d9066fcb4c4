import { z } from "@hono/zod-openapi";

const IssueFormField = z
  .object({
    type: z.enum(["markdown", "textarea", "input", "dropdown", "checkboxes"]),
    id: z.string(),
    attributes: z.record(z.string(), z.unknown()),
    validations: z.record(z.string(), z.unknown()),
    visible: z.array(z.enum(["form", "content"])),
  })
  .openapi("IssueFormField");

export const IssueTemplate = z
  .object({
    name: z.string(),
    title: z.string(),
    about: z.string(),
    labels: z.array(z.string()),
    assignees: z.array(z.string()),
    ref: z.string(),
    content: z.string().openapi({ description: "Content of a Markdown template" }),
    body: z.array(IssueFormField).nullable().openapi({ description: "Fields of a form template" }),
    file_name: z.string(),
  })
  .openapi("IssueTemplate");

export const IssueConfig = z
  .object({
    blank_issues_enabled: z.boolean(),
    contact_links: z.array(
      z
        .object({ name: z.string(), url: z.string(), about: z.string() })
        .openapi("IssueConfigContactLink"),
    ),
  })
  .openapi("IssueConfig");

export const IssueConfigValidation = z
  .object({ valid: z.boolean(), message: z.string() })
  .openapi("IssueConfigValidation");
