import { artifacts } from "./artifacts.ts";
import { runners } from "./runners.ts";
import { runs } from "./runs.ts";
import { secrets } from "./secrets.ts";
import { variables } from "./variables.ts";
import { workflows } from "./workflows.ts";

/** The routes of Actions. When two paths match a request, the one listed first handles it. */
export const actionsRoutes = [secrets, variables, runners, workflows, runs, artifacts];
