import { createRoute, z } from "@hono/zod-openapi";

import { listTasks } from "../../domain/operations/cron/list-tasks.ts";
import { runTask } from "../../domain/operations/cron/run-tasks.ts";
import { Cron, toCron } from "../../shapes/admin/cron.ts";
import { empty, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { siteAdmin } from "../guards/people.ts";
import { answerPage, done } from "../handlers.ts";
import { Paging } from "../paging.ts";

export const cron = endpoints();

cron.openapi(
  createRoute({
    method: "get",
    path: "/admin/cron",
    operationId: "adminCronList",
    tags: ["admin"],
    summary: "List the tasks of the schedule",
    middleware: [siteAdmin("read:admin")] as const,
    request: { query: Paging },
    responses: { 200: page(z.array(Cron), "The tasks"), ...refusals(401, 403) },
  }),
  (c) => answerPage(c, ({ ctx }, slice) => listTasks(ctx, slice), toCron),
);

cron.openapi(
  createRoute({
    method: "post",
    path: "/admin/cron/{task}",
    operationId: "adminCronRun",
    tags: ["admin"],
    summary: "Run a task of the schedule now",
    middleware: [siteAdmin("write:admin")] as const,
    request: { params: z.object({ task: z.string().max(100) }) },
    responses: { 204: empty("The task has run"), ...refusals(401, 403, 404) },
  }),
  (c) => done(c, ({ ctx }) => runTask(ctx, c.req.valid("param").task)),
);
