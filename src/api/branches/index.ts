import { branches } from "./branches.ts";
import { tags } from "./tags.ts";

/** The routes of branches and tags. Of two paths that fit a request, the one listed first answers. */
export const branchRoutes = [branches, tags];
