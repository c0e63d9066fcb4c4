import type { Config } from "../../config.ts";
import type { RemoteLimits } from "./smart-http.ts";

/** How long a remote may send nothing, in milliseconds. Git servers send something every five seconds while they work. */
const IDLE_MS = 60_000;

/** For one request: enough for a pack of some gigabytes, and less than a job may take. */
const TOTAL_MS = 12 * 60 * 1000;

/** About 200,000 refs. */
const REFS_BYTES_MAX = 16 * 1024 * 1024;

/** The bounds of requests to remotes, as configured. */
export const remoteLimitsOf = ({ pushMaxBytes }: Config): RemoteLimits => ({
  idleMs: IDLE_MS,
  totalMs: TOTAL_MS,
  refsBytesMax: REFS_BYTES_MAX,
  packBytesMax: pushMaxBytes,
});
