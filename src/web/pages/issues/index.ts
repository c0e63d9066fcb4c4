import type { Hono } from "hono";

import type { WebEnv } from "../../env.ts";
import { conversations } from "./issue.tsx";
import { issueLists } from "./list.tsx";

/** The pages of issues and pull requests. */
export const issuePages: readonly Hono<WebEnv>[] = [issueLists, conversations];
