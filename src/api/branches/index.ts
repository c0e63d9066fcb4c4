import { branchProtections } from "./branch-protections.ts";
import { branches } from "./branches.ts";
import { tagProtections } from "./tag-protections.ts";
import { tags } from "./tags.ts";

/**
 * The routes of branches and tags, and of the rules for them. When two paths match a request, the
 * one listed first handles it.
 */
export const branchRoutes = [branches, tags, branchProtections, tagProtections];
