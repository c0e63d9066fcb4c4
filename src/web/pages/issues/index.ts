import type { Hono } from "hono";

import type { WebEnv } from "../../env.ts";
import { labels } from "./labels.tsx";
import { milestones } from "./milestones.tsx";

/** The pages of issues, and of the labels and milestones that they share with pull requests. */
export const issuePages: readonly Hono<WebEnv>[] = [labels, milestones];
