import { createRoute, z } from "@hono/zod-openapi";

import { changeDeadline } from "../../domain/issues/issue/change-deadline.ts";
import { findIssue } from "../../domain/issues/issue/find-issue.ts";
import { requireIssueWrite } from "../../domain/issues/issue/require-issue-access.ts";
import { formatTime } from "../../lib/time.ts";
import { NEVER, Time } from "../../shapes/json.ts";
import { json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { signedInRepo } from "../guards/repository.ts";
import { body } from "../json-body.ts";
import { dueDate } from "./due-date.ts";
import { IssuePath } from "./paths.ts";
import { endOfDay, readSentTime } from "./sent-time.ts";

const EditDeadline = body({
  due_date: dueDate().openapi({ description: "The due date is removed if it is missing or null" }),
}).openapi("EditDeadlineOption");

const IssueDeadline = z
  .object({ due_date: Time.openapi({ description: "The beginning of 1970 for none" }) })
  .openapi("IssueDeadline");

export const deadlines = endpoints();

deadlines.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/issues/{index}/deadline",
    operationId: "issueEditIssueDeadline",
    tags: ["issue"],
    summary: "Set or remove the due date of an issue or pull request",
    middleware: [signedInRepo("write:issue")] as const,
    request: { params: IssuePath, body: { required: true, ...json(EditDeadline, "The date") } },
    responses: {
      201: json(IssueDeadline, "The end of the day on which it is due"),
      ...refusals(401, 403, 404, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const { due_date: dueDateText } = c.req.valid("json");
    const issue = await findIssue(ctx, repo, c.req.valid("param").index);
    requireIssueWrite(issue);
    // As in Gitea, the time is that of the day in UTC, unlike in an edit of the issue.
    const deadlineAt =
      dueDateText === undefined ? null : readSentTime("due_date", endOfDay(toUtc(dueDateText)));
    await changeDeadline(ctx, issue, deadlineAt);
    return c.json({ due_date: deadlineAt === null ? NEVER : formatTime(deadlineAt) }, 201);
  },
);

/** The date and time as they are written, in UTC. */
const toUtc = (text: string): string => text.replace(/[+-]\d\d:?\d\d$/, "Z");
