import { delimiter } from "node:path";

import { inProject } from "../project.ts";

const bin = inProject("node_modules/.bin");

// The settings in .env.local are those of `wrangler dev` alone (scripts/dev/settings.ts). Set for
// this process, since Wrangler reads them as a library, too.
process.env["CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV"] = "false";

/**
 * The environment for the tools that the scripts start. It disables prompts, telemetry and
 * downloads: the tools must work without a terminal and without a network.
 */
export const quietEnvironment: Record<string, string | undefined> = {
  ...process.env,
  // The tools, and the Node that runs them, come from package-lock.json.
  PATH: [bin, process.env["PATH"]].filter(Boolean).join(delimiter),
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_HIDE_BANNER: "true",
  WRANGLER_NO_SKILLS_UPDATE_PROMPTS: "true",
  // By default, each start downloads the properties of a sample request.
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  // Local traces fill a database that only grows, and take a third of a small request's time.
  X_LOCAL_OBSERVABILITY: "false",
  X_LOCAL_EXPLORER: "false",
  WRANGLER_WRITE_LOGS: "false",
  NO_UPDATE_NOTIFIER: "1",
};
