import { OpenAPIHono } from "@hono/zod-openapi";
import { TrieRouter } from "hono/router/trie-router";

import type { ApiEnv } from "./endpoints.ts";
import { renderFailure } from "./failure-renderer.ts";
import { branches } from "./branches/branches.ts";
import { tags } from "./branches/tags.ts";
import { comparisons } from "./commits/compare.ts";
import { commits } from "./commits/commits.ts";
import { statuses } from "./commits/statuses.ts";
import { notes } from "./git/notes.ts";
import { blobs } from "./contents/blobs.ts";
import { fileChanges } from "./contents/changes.ts";
import { contents } from "./contents/contents.ts";
import { editorconfig } from "./contents/editorconfig.ts";
import { fileContents } from "./contents/file-contents.ts";
import { patches } from "./contents/patches.ts";
import { raw } from "./contents/raw.ts";
import { trees } from "./contents/trees.ts";
import { refs } from "./git/refs.ts";
import { organizationHooks } from "./hooks/organization-hooks.ts";
import { ownHooks } from "./hooks/own-hooks.ts";
import { repositoryHooks } from "./hooks/repository-hooks.ts";
import { siteHooks } from "./hooks/site-hooks.ts";
import { issueTemplates } from "./issues/templates.ts";
import { gitignoreTemplates } from "./meta/gitignore-templates.ts";
import { licenses } from "./meta/licenses.ts";
import { markup } from "./meta/markup.ts";
import { settings } from "./meta/settings.ts";
import { signingKeys } from "./meta/signing-keys.ts";
import { version } from "./meta/version.ts";
import { organizationActivities } from "./orgs/activities.ts";
import { organizationEvents } from "./orgs/events.ts";
import { organizations } from "./orgs/organizations.ts";
import { organizationMembers } from "./orgs/members.ts";
import { organizationRepositories } from "./orgs/repositories.ts";
import { teams } from "./orgs/teams.ts";
import { adminUsers } from "./admin/users.ts";
import { repositoryActivities } from "./repos/activities.ts";
import { archives } from "./repos/archives.ts";
import { codeFacts } from "./repos/code-facts.ts";
import { deployKeys } from "./repos/deploy-keys.ts";
import { repositoryEvents } from "./repos/events.ts";
import { forks } from "./repos/forks.ts";
import { repositories } from "./repos/repositories.ts";
import { repositorySearch } from "./repos/search.ts";
import { stargazers } from "./repos/stargazers.ts";
import { subscriptions } from "./repos/subscriptions.ts";
import { topics } from "./repos/topics.ts";
import { emails } from "./self/emails.ts";
import { ownEvents } from "./self/events.ts";
import { gpgKeys } from "./self/gpg-keys.ts";
import { publicKeys } from "./self/public-keys.ts";
import { self } from "./self/self.ts";
import { stars } from "./self/stars.ts";
import { watchedRepositories } from "./self/subscriptions.ts";
import { accessTokens } from "./users/access-tokens.ts";
import { userActivities } from "./users/activities.ts";
import { follows } from "./users/follows.ts";
import { users } from "./users/users.ts";

/** The nouns of the API. Of two paths that fit a request, the one registered first answers. */
const NOUNS = [
  version,
  settings,
  signingKeys,
  markup,
  gitignoreTemplates,
  licenses,
  repositorySearch,
  repositories,
  subscriptions,
  stargazers,
  forks,
  codeFacts,
  topics,
  repositoryActivities,
  repositoryEvents,
  deployKeys,
  repositoryHooks,
  branches,
  tags,
  commits,
  comparisons,
  statuses,
  notes,
  contents,
  fileContents,
  editorconfig,
  issueTemplates,
  fileChanges,
  patches,
  raw,
  archives,
  blobs,
  trees,
  refs,
  self,
  emails,
  publicKeys,
  gpgKeys,
  ownHooks,
  stars,
  watchedRepositories,
  ownEvents,
  users,
  userActivities,
  follows,
  accessTokens,
  organizations,
  organizationMembers,
  organizationRepositories,
  organizationActivities,
  organizationEvents,
  teams,
  organizationHooks,
  adminUsers,
  siteHooks,
];

/** The Gitea-compatible API, below `/api/v1`. */
export const api = new OpenAPIHono<ApiEnv>({ router: new TrieRouter() });
for (const noun of NOUNS) api.route("/", noun);

// Where clients of the field look for the documentation.
api.get("/swagger", (c) => c.redirect("/api/swagger", 303));

api.onError((error, c) => renderFailure(error, c));

// What no route of its own answered: a path that others answer is told which methods they take.
api.all("*", (c) => {
  const path = c.req.path.replace(/^\/api\/v1/, "");
  const methods = methodsAt(path);
  if (methods.length === 0) return c.body(null, 404);
  return c.body(null, 405, { Allow: methods.join(", ") });
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
  // Whatever is read can be asked for its headers alone.
  if (methods.has("GET")) methods.add("HEAD");
  return [...methods];
}
