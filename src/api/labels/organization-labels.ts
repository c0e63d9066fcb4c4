import { createRoute, z } from "@hono/zod-openapi";

import { createLabel } from "../../domain/repos/labels/create-label.ts";
import { deleteLabel } from "../../domain/repos/labels/delete-label.ts";
import { findLabel } from "../../domain/repos/labels/find-label.ts";
import { listLabels } from "../../domain/repos/labels/list-labels.ts";
import { updateLabel } from "../../domain/repos/labels/update-label.ts";
import { Label, toOrganizationLabel } from "../../shapes/issues/label.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inOrg } from "../guards/account.ts";
import { answerPage, done } from "../handlers.ts";
import { OrgPath } from "../orgs/paths.ts";
import { PathId } from "../path-id.ts";
import { readPageOrAll } from "../paging.ts";
import { CreateLabel, EditLabel, LabelListing, toLabelEdit, toNewLabel } from "./label-body.ts";

export const organizationLabels = endpoints();

const LabelPath = OrgPath.extend({ id: PathId.openapi({ description: "The label's id" }) });
const NamedLabelPath = OrgPath.extend({
  id: z.string().openapi({ description: "The label's id, or its name" }),
});
const byOwner = { allowsAnonymous: false, needs: "ownership" } as const;

organizationLabels.openapi(
  createRoute({
    method: "get",
    path: "/orgs/{org}/labels",
    operationId: "orgListLabels",
    tags: ["organization"],
    summary: "List an organization's labels",
    description:
      "They can be attached in all of its repositories. The list is complete unless a page is requested.",
    middleware: [inOrg("read:organization", { allowsAnonymous: true })] as const,
    request: { params: OrgPath, query: LabelListing },
    responses: { 200: page(z.array(Label), "The labels"), ...refusals(401, 403, 404) },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, org }, slice) => listLabels(ctx, { org }, c.req.valid("query").sort, slice),
      (each, viewer) => toOrganizationLabel(each, c.var.org.name, viewer),
      readPageOrAll,
    ),
);

organizationLabels.openapi(
  createRoute({
    method: "post",
    path: "/orgs/{org}/labels",
    operationId: "orgCreateLabel",
    tags: ["organization"],
    summary: "Create a label in an organization",
    middleware: [inOrg("write:organization", byOwner)] as const,
    request: { params: OrgPath, body: { required: true, ...json(CreateLabel, "The label") } },
    responses: { 201: json(Label, "The new label"), ...refusals(401, 403, 404, 422) },
  }),
  async (c) => {
    const { ctx, org, viewer } = c.var;
    const label = await createLabel(ctx, { org }, toNewLabel(c.req.valid("json")));
    return c.json(toOrganizationLabel(label, org.name, viewer), 201);
  },
);

organizationLabels.openapi(
  createRoute({
    method: "get",
    path: "/orgs/{org}/labels/{id}",
    operationId: "orgGetLabel",
    tags: ["organization"],
    summary: "Get a label of an organization",
    middleware: [inOrg("read:organization", { allowsAnonymous: false })] as const,
    request: { params: NamedLabelPath },
    responses: { 200: json(Label, "The label"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, org, viewer } = c.var;
    const label = await findLabel(ctx, { org }, c.req.valid("param").id);
    return c.json(toOrganizationLabel(label, org.name, viewer), 200);
  },
);

organizationLabels.openapi(
  createRoute({
    method: "patch",
    path: "/orgs/{org}/labels/{id}",
    operationId: "orgEditLabel",
    tags: ["organization"],
    summary: "Edit a label of an organization",
    description: "Omitted fields stay as they are, `is_archived` included.",
    middleware: [inOrg("write:organization", byOwner)] as const,
    request: {
      params: LabelPath,
      body: { required: false, ...json(EditLabel, "The fields to change") },
    },
    responses: { 200: json(Label, "The edited label"), ...refusals(401, 403, 404, 422) },
  }),
  async (c) => {
    const { ctx, org, viewer } = c.var;
    const { id } = c.req.valid("param");
    const label = await updateLabel(ctx, { org }, id, toLabelEdit(c.req.valid("json")));
    return c.json(toOrganizationLabel(label, org.name, viewer), 200);
  },
);

organizationLabels.openapi(
  createRoute({
    method: "delete",
    path: "/orgs/{org}/labels/{id}",
    operationId: "orgDeleteLabel",
    tags: ["organization"],
    summary: "Delete a label of an organization",
    description:
      "It goes off all issues and pull requests of the organization's repositories, and out of their timelines.",
    middleware: [inOrg("write:organization", byOwner)] as const,
    request: { params: LabelPath },
    responses: {
      204: empty("The organization has no such label"),
      ...refusals(401, 403, 404, 409),
    },
  }),
  (c) => done(c, ({ ctx, org }) => deleteLabel(ctx, { org }, c.req.valid("param").id)),
);
