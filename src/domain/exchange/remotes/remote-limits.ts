import type { Config } from "../../../config.ts";
import type { RemoteLimits } from "./smart-http.ts";

/** For one request: enough for a pack of some gigabytes, and less than a job may take. */
const TOTAL_MS = 12 * 60 * 1000;

/** About 200,000 refs. */
const REFS_BYTES_MAX = 16 * 1024 * 1024;

/** The bounds of requests to remotes, as configured. */
export const remoteLimitsOf = ({ remoteTimeoutMs, remotePackMaxBytes }: Config): RemoteLimits => ({
  idleMs: remoteTimeoutMs,
  totalMs: TOTAL_MS,
  refsBytesMax: REFS_BYTES_MAX,
  packBytesMax: remotePackMaxBytes,
});
