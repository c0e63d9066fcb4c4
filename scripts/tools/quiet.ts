import { delimiter } from "node:path";

import { inProject } from "../project.ts";

const bin = inProject("node_modules/.bin");

/**
 * The environment for the tools we start. Nothing here asks, reports or fetches on its own:
 * they have to work without a terminal and without a network.
 */
export const quietEnvironment: Record<string, string | undefined> = {
  ...process.env,
  // The tools, and the Node they run on, are the ones of package-lock.json.
  PATH: [bin, process.env["PATH"]].filter(Boolean).join(delimiter),
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_HIDE_BANNER: "true",
  WRANGLER_NO_SKILLS_UPDATE_PROMPTS: "true",
  // Otherwise each start downloads the properties of a sample request.
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  // Local traces go to a database that only grows, and cost a third of a small request's time.
  X_LOCAL_OBSERVABILITY: "false",
  X_LOCAL_EXPLORER: "false",
  WRANGLER_WRITE_LOGS: "false",
  NO_UPDATE_NOTIFIER: "1",
};
