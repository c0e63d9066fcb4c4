import type { Hono } from "hono";

import type { WebEnv } from "../../env.ts";
import { conversations } from "./issue.tsx";
import { pullPages } from "../pulls/pull-pages.tsx";
import { histories } from "./history.tsx";
import { issueLists } from "./list.tsx";
import { newIssues } from "./new-issue.tsx";

/** The pages of issues and pull requests. */
export const issuePages: readonly Hono<WebEnv>[] = [
  issueLists,
  newIssues,
  conversations,
  histories,
  pullPages,
];
