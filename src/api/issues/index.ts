import { deadlines } from "./deadlines.ts";
import { issues } from "./issues.ts";
import { locks } from "./locks.ts";
import { pins } from "./pins.ts";
import { issueTemplates } from "./templates.ts";

/** The routes of issues. When two paths match a request, the one listed first handles it. */
export const issueRoutes = [issueTemplates, pins, issues, locks, deadlines];
