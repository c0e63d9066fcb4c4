import { pullRequests } from "./pulls.ts";

/** The routes of pull requests. When two paths match a request, the one listed first handles it. */
export const pullRoutes = [pullRequests];
