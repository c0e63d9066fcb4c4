import { Hono } from "hono";

import type { WebEnv } from "../../env.ts";
import { removeArtifact, sendArtifact } from "./artifacts.tsx";
import { sendBadge } from "./badge.ts";
import { sendDispatch, showDispatch } from "./dispatch.tsx";
import { answerLogs, showJob } from "./job.tsx";
import { changeRun, RUN_ACTIONS, rerunJob, showRun } from "./run.tsx";
import { showRuns, switchWorkflow } from "./runs.tsx";

/** The pages of workflows, their runs, and jobs with their logs. */
const actions = new Hono<WebEnv>();

const LIST = "/:owner/:repo/actions";
const RUN = `${LIST}/runs/:run`;
const JOB = `${RUN}/jobs/:job`;

actions.get(LIST, showRuns);
actions.post(`${LIST}/disable`, (c) => switchWorkflow(c, true));
actions.post(`${LIST}/enable`, (c) => switchWorkflow(c, false));
actions.get(`${LIST}/run`, showDispatch);
actions.post(`${LIST}/run`, sendDispatch);
actions.get(`${LIST}/workflows/:file/badge.svg`, sendBadge);
actions.get(RUN, showRun);
actions.post(`${RUN}/:action{(?:${RUN_ACTIONS.join("|")})}`, changeRun);
actions.get(`${RUN}/artifacts/:name`, sendArtifact);
actions.post(`${RUN}/artifacts/:name/delete`, removeArtifact);
actions.get(JOB, showJob);
actions.get(`${JOB}/logs`, answerLogs);
actions.post(`${JOB}/rerun`, rerunJob);

export const actionsPages = [actions];
