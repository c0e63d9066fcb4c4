import type { Config } from "../../../config.ts";
import { DEFAULT_PACK_LIMITS, type PackLimits } from "../../../git/pack/limits.ts";

/**
 * The limits of each pack that is received: from a client, from a remote, or of a change that the
 * service makes.
 */
export const packLimits = (config: Config): PackLimits => ({
  ...DEFAULT_PACK_LIMITS,
  objectBytesMax: config.gitObjectMaxBytes,
  inflatedBytesMax: config.gitPackMaxInflatedBytes,
  inflatedRatioMax: config.gitPackMaxInflatedRatio,
});
