import { branches } from "./branches.ts";
import { tags } from "./tags.ts";

/** The routes of branches and tags. When two paths match a request, the one listed first handles it. */
export const branchRoutes = [branches, tags];
