import type { Hono } from "hono";

import type { WebEnv } from "../../env.ts";
import { compare } from "./compare.tsx";
import { histories } from "./history.tsx";
import { conversations } from "./issue.tsx";
import { labels } from "./labels.tsx";
import { issueLists } from "./list.tsx";
import { milestones } from "./milestones.tsx";
import { newIssues } from "./new-issue.tsx";
import { versions } from "./version.ts";
import { pullCommits } from "./pull-commits.tsx";
import { pullFiles } from "./pull-files.tsx";
import { suggestions } from "./suggestions.ts";
import { uploads } from "./upload.tsx";

/** The pages of issues and pull requests, and of the labels and milestones that they share. */
export const issuePages: readonly Hono<WebEnv>[] = [
  issueLists,
  compare,
  newIssues,
  uploads,
  suggestions,
  conversations,
  histories,
  versions,
  pullCommits,
  pullFiles,
  labels,
  milestones,
];
