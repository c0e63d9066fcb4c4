import { createRoute, z } from "@hono/zod-openapi";

import { createLabel } from "../../domain/repos/labels/create-label.ts";
import { deleteLabel } from "../../domain/repos/labels/delete-label.ts";
import { findLabel } from "../../domain/repos/labels/find-label.ts";
import { listLabels } from "../../domain/repos/labels/list-labels.ts";
import { updateLabel } from "../../domain/repos/labels/update-label.ts";
import { Label, toLabel } from "../../shapes/issues/label.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo, signedInRepo } from "../guards/repository.ts";
import { answerPage, done } from "../handlers.ts";
import { PathId } from "../path-id.ts";
import { readPageOrAll } from "../paging.ts";
import { RepoPath } from "../repos/paths.ts";
import { readsLabels, writesLabels } from "./label-access.ts";
import { CreateLabel, EditLabel, LabelListing, toLabelEdit, toNewLabel } from "./label-body.ts";

export const repositoryLabels = endpoints();

const LabelPath = RepoPath.extend({ id: PathId.openapi({ description: "The label's id" }) });
const NamedLabelPath = RepoPath.extend({
  id: z.string().openapi({ description: "The label's id, or its name" }),
});

repositoryLabels.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/labels",
    operationId: "issueListLabels",
    tags: ["issue"],
    summary: "List a repository's labels",
    description:
      "Without those of its organization. The list is complete unless a page is requested.",
    middleware: [inRepo("read:issue"), readsLabels] as const,
    request: { params: RepoPath, query: LabelListing },
    responses: { 200: page(z.array(Label), "The labels"), ...refusals(401, 403, 404) },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, repo }, slice) => listLabels(ctx, { repo }, c.req.valid("query").sort, slice),
      (each, viewer) => toLabel(each, c.var.repo, viewer),
      readPageOrAll,
    ),
);

repositoryLabels.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/labels",
    operationId: "issueCreateLabel",
    tags: ["issue"],
    summary: "Create a label in a repository",
    middleware: [signedInRepo("write:issue"), writesLabels] as const,
    request: { params: RepoPath, body: { required: true, ...json(CreateLabel, "The label") } },
    responses: { 201: json(Label, "The new label"), ...refusals(401, 403, 404, 422, 423) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const label = await createLabel(ctx, { repo }, toNewLabel(c.req.valid("json")));
    return c.json(toLabel(label, repo, viewer), 201);
  },
);

repositoryLabels.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/labels/{id}",
    operationId: "issueGetLabel",
    tags: ["issue"],
    summary: "Get a label of a repository",
    middleware: [inRepo("read:issue"), readsLabels] as const,
    request: { params: NamedLabelPath },
    responses: { 200: json(Label, "The label"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const label = await findLabel(ctx, { repo }, c.req.valid("param").id);
    return c.json(toLabel(label, repo, viewer), 200);
  },
);

repositoryLabels.openapi(
  createRoute({
    method: "patch",
    path: "/repos/{owner}/{repo}/labels/{id}",
    operationId: "issueEditLabel",
    tags: ["issue"],
    summary: "Edit a label of a repository",
    description: "Omitted fields stay as they are, `is_archived` included.",
    middleware: [signedInRepo("write:issue"), writesLabels] as const,
    request: {
      params: LabelPath,
      body: { required: false, ...json(EditLabel, "The fields to change") },
    },
    responses: { 200: json(Label, "The edited label"), ...refusals(401, 403, 404, 422, 423) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { id } = c.req.valid("param");
    const label = await updateLabel(ctx, { repo }, id, toLabelEdit(c.req.valid("json")));
    return c.json(toLabel(label, repo, viewer), 200);
  },
);

repositoryLabels.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/labels/{id}",
    operationId: "issueDeleteLabel",
    tags: ["issue"],
    summary: "Delete a label of a repository",
    description: "It goes off all issues and pull requests, and out of their timelines.",
    middleware: [signedInRepo("write:issue"), writesLabels] as const,
    request: { params: LabelPath },
    responses: {
      204: empty("The repository has no such label"),
      ...refusals(401, 403, 404, 409, 423),
    },
  }),
  (c) => done(c, ({ ctx, repo }) => deleteLabel(ctx, { repo }, c.req.valid("param").id)),
);
