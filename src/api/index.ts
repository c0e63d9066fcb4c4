import { reasonHeader } from "../entrance/failure-status.ts";
import { OpenAPIHono } from "@hono/zod-openapi";
import { TrieRouter } from "hono/router/trie-router";

import { actionsRoutes } from "./actions/index.ts";
import { adminRoutes } from "./admin/index.ts";
import { branchRoutes } from "./branches/index.ts";
import { commitRoutes } from "./commits/index.ts";
import { contentRoutes } from "./contents/index.ts";
import type { ApiEnv } from "./endpoints.ts";
import { gitRoutes } from "./git/index.ts";
import { hookRoutes } from "./hooks/index.ts";
import { issueRoutes, issueSearchRoutes } from "./issues/index.ts";
import { labelRoutes } from "./labels/index.ts";
import { metaRoutes } from "./meta/index.ts";
import { MountedRouter } from "./mounted-router.ts";
import { isNotBuilt } from "./not-built.ts";
import { notificationRoutes } from "./notifications/index.ts";
import { organizationRoutes } from "./orgs/index.ts";
import { packageRoutes } from "./packages/index.ts";
import { pullRoutes } from "./pulls/index.ts";
import { releaseRoutes } from "./releases/index.ts";
import { repoRoutes } from "./repos/index.ts";
import { selfRoutes } from "./self/index.ts";
import { userRoutes } from "./users/index.ts";
import { wikiRoutes } from "./wiki/index.ts";

/**
 * The routes of the API by group. When two paths match a request, the one registered first handles
 * it.
 */
const ROUTES = [
  ...metaRoutes,
  ...issueSearchRoutes,
  ...repoRoutes,
  ...hookRoutes,
  ...actionsRoutes,
  ...branchRoutes,
  ...commitRoutes,
  ...gitRoutes,
  ...contentRoutes,
  ...issueRoutes,
  ...pullRoutes,
  ...releaseRoutes,
  ...wikiRoutes,
  ...notificationRoutes,
  ...labelRoutes,
  ...selfRoutes,
  ...userRoutes,
  ...organizationRoutes,
  ...packageRoutes,
  ...adminRoutes,
];

/**
 * The Gitea-compatible API, below `/api/v1`.
 *
 * It has no `onError`, for which Hono would wrap each guard, validator and handler of a request:
 * the app that mounts it renders what they throw.
 */
export const api = new OpenAPIHono<ApiEnv>({ router: new MountedRouter() });
for (const noun of ROUTES) api.route("/", noun);

// Gitea's path of the documentation, which its clients link to.
api.get("/swagger", (c) => c.redirect("/api/swagger", 303));

// No route matched: 405 with `Allow` if the path exists for other methods, otherwise 404.
api.all("*", (c) => {
  const path = c.req.path.replace(/^\/api\/v1/, "");
  const methods = methodsAt(path);
  const reason = reasonHeader(isNotBuilt(c.req.method, path) ? "not-built" : "no-route");
  if (methods.length === 0) return c.body(null, 404, reason);
  return c.body(null, 405, { ...reason, Allow: methods.join(", ") });
});

let router: TrieRouter<string> | undefined;
function methodsAt(path: string): string[] {
  if (!router) {
    router = new TrieRouter();
    for (const route of api.routes) {
      if (route.method !== "ALL") router.add("ALL", route.path, route.method);
    }
  }
  const methods = new Set(router.match("GET", path)[0].map(([method]) => method));
  // Hono answers HEAD with the GET route.
  if (methods.has("GET")) methods.add("HEAD");
  return [...methods];
}
