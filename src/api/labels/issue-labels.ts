import { createRoute, z } from "@hono/zod-openapi";

import type { Ctx } from "../../context.ts";
import { findIssue } from "../../domain/issues/issue/find-issue.ts";
import { ISSUE_LABELS_MAX, type LabelKeys } from "../../domain/issues/issue/assign-labels.ts";
import { changeLabels, removeLabel } from "../../domain/issues/issue/change-labels.ts";
import { requireLabeling } from "../../domain/issues/issue/require-labeling.ts";
import { malformed } from "../../lib/failure.ts";
import { Label, toLabel } from "../../shapes/issues/label.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import type { Viewer } from "../../shapes/viewer.ts";
import { empty, json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo, signedInRepo } from "../guards/repository.ts";
import { done } from "../handlers.ts";
import { IssuePath } from "../issues/paths.ts";
import { body } from "../json-body.ts";

export const issueLabels = endpoints();

const IssueLabels = body({
  labels: z
    .array(z.unknown())
    .max(ISSUE_LABELS_MAX)
    .default([])
    .openapi({
      type: "array",
      items: { oneOf: [{ type: "integer", format: "int64" }, { type: "string" }] },
      description:
        "Ids or names of labels of the repository or its organization; others are ignored",
    }),
}).openapi("IssueLabelsOption");

/** Any text names no label where it is no id, which is answered like an unknown id. */
const IssueLabelPath = IssuePath.extend({
  id: z
    .string()
    .transform((text) => (/^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0))
    .openapi({ type: "integer", format: "int64", description: "The label's id" }),
});

issueLabels.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/issues/{index}/labels",
    operationId: "issueGetLabels",
    tags: ["issue"],
    summary: "List the labels of an issue or pull request",
    middleware: [inRepo("read:issue")] as const,
    request: { params: IssuePath },
    responses: { 200: json(z.array(Label), "The labels, by name"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { labels } = await findIssue(ctx, repo, c.req.valid("param").index);
    return c.json(
      labels.map((each) => toLabel(each, repo, viewer)),
      200,
    );
  },
);

issueLabels.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/issues/{index}/labels",
    operationId: "issueAddLabel",
    tags: ["issue"],
    summary: "Add labels to an issue or pull request",
    description:
      "An exclusive label takes the others of its scope off. Of several new ones of one scope, the last one by name stays.",
    middleware: [signedInRepo("write:issue")] as const,
    request: { params: IssuePath, body: { required: true, ...json(IssueLabels, "The labels") } },
    responses: {
      200: json(z.array(Label), "All labels that it has now, by name"),
      ...refusals(400, 401, 403, 404, 422, 423),
    },
  }),
  async (c) => {
    const { labels } = c.req.valid("json");
    return c.json(await change(c.var, c.req.valid("param").index, "add", labels), 200);
  },
);

issueLabels.openapi(
  createRoute({
    method: "put",
    path: "/repos/{owner}/{repo}/issues/{index}/labels",
    operationId: "issueReplaceLabels",
    tags: ["issue"],
    summary: "Replace the labels of an issue or pull request",
    description: "Of several exclusive labels of one scope, the last one by name stays.",
    middleware: [signedInRepo("write:issue")] as const,
    request: { params: IssuePath, body: { required: true, ...json(IssueLabels, "The labels") } },
    responses: {
      200: json(z.array(Label), "All labels that it has now, by name"),
      ...refusals(400, 401, 403, 404, 422, 423),
    },
  }),
  async (c) => {
    const { labels } = c.req.valid("json");
    return c.json(await change(c.var, c.req.valid("param").index, "replace", labels), 200);
  },
);

issueLabels.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/issues/{index}/labels",
    operationId: "issueClearLabels",
    tags: ["issue"],
    summary: "Remove all labels from an issue or pull request",
    middleware: [signedInRepo("write:issue")] as const,
    request: { params: IssuePath },
    responses: { 204: empty("It has no labels"), ...refusals(401, 403, 404, 423) },
  }),
  (c) =>
    done(c, async ({ ctx, repo }) => {
      const issue = await findIssue(ctx, repo, c.req.valid("param").index);
      requireLabeling(issue);
      await changeLabels(ctx, issue, { kind: "clear" });
    }),
);

issueLabels.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/issues/{index}/labels/{id}",
    operationId: "issueRemoveLabel",
    tags: ["issue"],
    summary: "Remove a label from an issue or pull request",
    middleware: [signedInRepo("write:issue")] as const,
    request: { params: IssueLabelPath },
    responses: {
      204: empty("It does not have the label"),
      ...refusals(401, 403, 404, 422, 423),
    },
  }),
  (c) => {
    const { index, id } = c.req.valid("param");
    return done(c, ({ ctx, repo }) => removeLabel(ctx, repo, index, id));
  },
);

async function change(
  { ctx, repo, viewer }: { ctx: Ctx; repo: RepositoryContext; viewer: Viewer },
  index: number,
  kind: "add" | "replace",
  labels: readonly unknown[],
) {
  const issue = await findIssue(ctx, repo, index);
  requireLabeling(issue);
  const changed = await changeLabels(ctx, issue, { kind, labels: toLabelKeys(labels) });
  return changed.map((each) => toLabel(each, repo, viewer));
}

/** @throws Failure `malformed` for a list that has neither only numbers nor only texts. */
function toLabelKeys(labels: readonly unknown[]): LabelKeys {
  if (!labels.every((each) => typeof each === "number" || typeof each === "string")) {
    throw malformed("a label must be an integer or a string");
  }
  const ids = labels.filter((each) => typeof each === "number");
  const names = labels.filter((each) => typeof each === "string");
  if (ids.length > 0 && names.length > 0) {
    throw malformed("labels should be an array of strings or integers");
  }
  return ids.length > 0 ? { ids } : { names };
}
