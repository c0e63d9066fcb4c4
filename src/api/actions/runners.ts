import { createRoute, z } from "@hono/zod-openapi";

import { deleteRunner, setRunnerDisabled } from "../../domain/actions/runners/change-runner.ts";
import { findRunner } from "../../domain/actions/runners/find-runner.ts";
import { listRunners } from "../../domain/actions/runners/list-runners.ts";
import {
  readRegistrationToken,
  resetRegistrationToken,
} from "../../domain/actions/runners/registration-token.ts";
import { runnerState, type RunnerWithWork } from "../../domain/actions/runners/runner-state.ts";
import { Runner, RunnerPage, toRunner } from "../../shapes/actions/runner.ts";
import { empty, HEADERS, json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { done } from "../handlers.ts";
import { body } from "../json-body.ts";
import { Paging, readPage, setPageHeaders } from "../paging.ts";
import { PathId } from "../path-id.ts";
import { LEVELS, type LevelRoutes, SERVICE_LEVEL } from "./levels.ts";

const EditRunner = body({
  disabled: z.boolean().openapi({ description: "Whether it gets no jobs; one that runs goes on" }),
}).openapi("EditActionRunnerOption");

const RegistrationToken = z
  .object({
    token: z.string().openapi({ description: "The same one until it is reset" }),
  })
  .openapi("RegistrationToken");

/**
 * Runners of Actions. Disabling them and resetting a registration token are extensions of Gitea's
 * API.
 */
export const runners = endpoints();

for (const level of LEVELS) {
  const { path, params, prefix, infix, tag, of, reading, writing } = level;
  const listPath = `${path}/runners` as const;
  const onePath = `${listPath}/{runner_id}` as const;
  const RunnerPath = params.extend({ runner_id: PathId });

  runners.openapi(
    createRoute({
      method: "get",
      path: listPath,
      operationId: `get${infix}Runners`,
      tags: [tag],
      summary: prefix === "admin" ? "List the runners of all levels" : `List the runners ${of}`,
      middleware: [reading] as const,
      request: { params, query: Paging },
      responses: {
        200: { ...json(RunnerPage, "The runners, oldest first"), headers: HEADERS.page },
        ...refusals(401, 403, 404),
      },
    }),
    async (c) => {
      const { ctx, actionsLevel } = c.var;
      const slice = readPage(ctx.config, c.req.valid("query"));
      const { items, total } = await listRunners(ctx, actionsLevel, slice);
      setPageHeaders(c, slice, total);
      const shown = items.map((runner) => shapeAt(ctx.now, runner));
      return c.json({ runners: shown, total_count: total }, 200);
    },
  );

  if (prefix !== "admin") addTokenRead(level, `${listPath}/registration-token`);
  addTokenWrites(level, `${listPath}/registration-token`);

  runners.openapi(
    createRoute({
      method: "get",
      path: onePath,
      operationId: `get${infix}Runner`,
      tags: [tag],
      summary: `Get a runner ${of}`,
      middleware: [reading] as const,
      request: { params: RunnerPath },
      responses: { 200: json(Runner, "The runner"), ...refusals(401, 403, 404) },
    }),
    async (c) => {
      const { ctx, actionsLevel } = c.var;
      const runner = await findRunner(ctx, actionsLevel, c.req.valid("param").runner_id);
      return c.json(shapeAt(ctx.now, runner), 200);
    },
  );

  runners.openapi(
    createRoute({
      method: "patch",
      path: onePath,
      operationId: `update${infix}Runner`,
      tags: [tag],
      summary: `Disable or enable a runner ${of}`,
      middleware: [writing] as const,
      request: { params: RunnerPath, body: { required: true, ...json(EditRunner, "The change") } },
      responses: { 200: json(Runner, "The runner"), ...refusals(401, 403, 404, 422) },
    }),
    async (c) => {
      const { ctx, actionsLevel } = c.var;
      const { disabled } = c.req.valid("json");
      const { runner_id: id } = c.req.valid("param");
      return c.json(
        shapeAt(ctx.now, await setRunnerDisabled(ctx, actionsLevel, id, disabled)),
        200,
      );
    },
  );

  runners.openapi(
    createRoute({
      method: "delete",
      path: onePath,
      operationId: `delete${infix}Runner`,
      tags: [tag],
      summary: `Delete a runner ${of}`,
      middleware: [writing] as const,
      request: { params: RunnerPath },
      responses: { 204: empty("The runner was deleted"), ...refusals(401, 403, 404) },
    }),
    (c) =>
      done(c, ({ ctx, actionsLevel }) =>
        deleteRunner(ctx, actionsLevel, c.req.valid("param").runner_id),
      ),
  );
}

addTokenRead(SERVICE_LEVEL, "/admin/runners/registration-token");

/**
 * Adds the route that reads the registration token of a level.
 *
 * SECURITY: it needs the scope to write. Who has the token makes a runner, which gets the secrets
 * of jobs.
 */
function addTokenRead({ params, prefix, tag, of, writing }: LevelRoutes, path: string): void {
  runners.openapi(
    createRoute({
      method: "get",
      path,
      operationId: `${prefix}GetRunnerRegistrationToken`,
      tags: [tag],
      summary: `Get the token with which runners ${of} register`,
      middleware: [writing] as const,
      request: { params },
      responses: { 200: json(RegistrationToken, "The token"), ...refusals(401, 403, 404) },
    }),
    async (c) => {
      const { ctx, actionsLevel } = c.var;
      return c.json({ token: await readRegistrationToken(ctx, actionsLevel) }, 200);
    },
  );
}

/** Adds the routes that make and reset the registration token of a level. */
function addTokenWrites(
  { params, prefix, tag, of, writing }: LevelRoutes,
  path: `${string}/registration-token`,
): void {
  runners.openapi(
    createRoute({
      method: "post",
      path,
      operationId: `${prefix}CreateRunnerRegistrationToken`,
      tags: [tag],
      summary: `Get the token with which runners ${of} register, made if there is none`,
      middleware: [writing] as const,
      request: { params },
      responses: { 200: json(RegistrationToken, "The token"), ...refusals(401, 403, 404) },
    }),
    async (c) => {
      const { ctx, actionsLevel } = c.var;
      return c.json({ token: await readRegistrationToken(ctx, actionsLevel) }, 200);
    },
  );

  runners.openapi(
    createRoute({
      method: "delete",
      path,
      operationId: `${prefix}ResetRunnerRegistrationToken`,
      tags: [tag],
      summary: `Reset the token with which runners ${of} register`,
      description: "Runners that are registered stay.",
      middleware: [writing] as const,
      request: { params },
      responses: { 204: empty("The token was reset"), ...refusals(401, 403, 404) },
    }),
    (c) => done(c, ({ ctx, actionsLevel }) => resetRegistrationToken(ctx, actionsLevel)),
  );
}

const shapeAt = (now: number, runner: RunnerWithWork) => toRunner(runner, runnerState(runner, now));
