import { createRoute, z } from "@hono/zod-openapi";

import { findLicense, listLicenses } from "../../domain/code/templates/licenses.ts";
import { notFound } from "../../lib/failure.ts";
import { json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { anyone } from "../guards/people.ts";
import { apiRootOf } from "../../shapes/urls.ts";

export const licenses = endpoints();

const listEntry = {
  key: z.string().openapi({ description: "An SPDX id", example: "MIT" }),
  name: z.string().openapi({ description: "The same as `key`" }),
  url: z.string().openapi({ format: "uri" }),
};
const LicensesTemplateListEntry = z.object(listEntry).openapi("LicensesTemplateListEntry");
const LicenseTemplateInfo = z
  .object({
    ...listEntry,
    implementation: z.string().openapi({ description: "How to apply the license" }),
    body: z.string().openapi({ description: "The license text, with placeholders" }),
  })
  .openapi("LicenseTemplateInfo");

const IMPLEMENTATION =
  "Put the text into a file called LICENSE at the root of the repository, and fill in its blanks.";

const toEntry = (id: string, rootUrl: string) => ({
  key: id,
  name: id,
  url: `${apiRootOf({ rootUrl })}/licenses/${encodeURIComponent(id)}`,
});

licenses.openapi(
  createRoute({
    method: "get",
    path: "/licenses",
    operationId: "listLicenseTemplates",
    tags: ["miscellaneous"],
    summary: "List the license templates",
    middleware: [anyone()] as const,
    responses: { 200: json(z.array(LicensesTemplateListEntry), "The licenses, by key") },
  }),
  async (c) => {
    const ids = await listLicenses();
    return c.json(
      ids.map((id) => toEntry(id, c.var.viewer.rootUrl)),
      200,
    );
  },
);

licenses.openapi(
  createRoute({
    method: "get",
    path: "/licenses/{name}",
    operationId: "getLicenseTemplateInfo",
    tags: ["miscellaneous"],
    summary: "Get a license template",
    middleware: [anyone()] as const,
    request: {
      params: z.object({ name: z.string().openapi({ description: "The name of the license" }) }),
    },
    responses: { 200: json(LicenseTemplateInfo, "The license"), ...refusals(404) },
  }),
  async (c) => {
    const license = await findLicense(c.req.valid("param").name);
    if (!license) throw notFound();
    const { rootUrl } = c.var.viewer;
    return c.json(
      { ...toEntry(license.id, rootUrl), implementation: IMPLEMENTATION, body: license.text },
      200,
    );
  },
);
