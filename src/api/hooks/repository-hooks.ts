import { createRoute } from "@hono/zod-openapi";

import type { HookOwner } from "../../domain/exchange/webhooks/hooks/hook-owner.ts";
import { requireWebhooks } from "../../domain/exchange/webhooks/hooks/require-webhooks.ts";
import { testHook } from "../../domain/exchange/webhooks/dispatch/test-hook.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { countAction } from "../../entrance/count-action.ts";
import { empty, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { PathId } from "../path-id.ts";
import { RepoPath } from "../repos/paths.ts";
import { atHooks } from "./at-hooks.ts";
import { addDeliveries } from "./deliveries.ts";
import { addHookById, addHookList, TestQuery } from "./hook-routes.ts";

export const repositoryHooks = endpoints();

const HookPath = RepoPath.extend({ id: PathId });

const hookOwnerOf = ({ repo }: { repo: RepositoryContext }): HookOwner => ({
  level: "repository",
  repo: repo.row,
});
const TO_ADMINISTER = { mode: "admin" } as const;
const reading = atHooks(inRepo("read:repository", TO_ADMINISTER), hookOwnerOf);
const writing = atHooks(inRepo("write:repository", TO_ADMINISTER), hookOwnerOf);

const LEVEL = {
  path: "/repos/{owner}/{repo}/hooks",
  params: HookPath,
  prefix: "repo",
  tag: "repository",
  webhook: "a repository webhook",
  reading,
  writing,
} as const;

addHookList(repositoryHooks, LEVEL, "a repository's webhooks");
addHookById(repositoryHooks, LEVEL);

repositoryHooks.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/hooks/{id}/tests",
    operationId: "repoTestHook",
    tags: ["repository"],
    summary: "Test a repository webhook with a push event without changes",
    middleware: [inRepo("write:repository", TO_ADMINISTER)] as const,
    request: {
      params: HookPath,
      query: TestQuery,
    },
    responses: {
      204: empty("The test is queued if the webhook subscribes to pushes"),
      ...refusals(401, 403, 404, 422),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    requireWebhooks(ctx);
    await countAction(c, "WEBHOOK_TESTS");
    await testHook(
      ctx,
      hookOwnerOf({ repo }),
      repo,
      c.req.valid("param").id,
      c.req.valid("query").ref,
    );
    return c.body(null, 204);
  },
);

addDeliveries(repositoryHooks, LEVEL);
