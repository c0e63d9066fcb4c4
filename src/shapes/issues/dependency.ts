import { z } from "@hono/zod-openapi";

import { formatTime } from "../../lib/time.ts";
import { User } from "../users/user.ts";
import type { Viewer } from "../viewer.ts";
import { Issue, type IssueContext, toIssue } from "./issue.ts";

/** An issue that another one waits for; without anything of it where the caller may not see it. */
export const Dependency = z
  .object({
    ...Issue.shape,
    url: z.string(),
    html_url: z.string(),
    user: User.nullable(),
    repository: Issue.shape.repository.nullable(),
  })
  .openapi("IssueDependency", {
    description: "Where the caller may not see it, its id is 0 and its title `HIDDEN`",
  });
export type Dependency = z.infer<typeof Dependency>;

/** @param issue Undefined if the viewer may not see it. */
export const toDependency = (issue: IssueContext | undefined, viewer: Viewer): Dependency =>
  issue ? toIssue(issue, viewer) : HIDDEN;

/**
 * SECURITY: the same for every hidden issue, also in its state. It reveals only that one exists,
 * which an attempt to close the other issue reveals as well.
 */
const HIDDEN: Dependency = {
  id: 0,
  url: "",
  html_url: "",
  number: 0,
  user: null,
  original_author: "",
  original_author_id: 0,
  title: "HIDDEN",
  body: "",
  ref: "",
  assets: [],
  labels: [],
  milestone: null,
  assignee: null,
  assignees: [],
  state: "open",
  is_locked: false,
  comments: 0,
  created_at: formatTime(0),
  updated_at: formatTime(0),
  closed_at: null,
  due_date: null,
  time_estimate: 0,
  pull_request: null,
  repository: null,
  pin_order: 0,
  content_version: 0,
};
