/** Maximum artifacts of one attempt of a run. */
export const ARTIFACTS_MAX = 500;

/** Maximum parts of a file. */
export const ARTIFACT_PARTS_MAX = 10_000;

/** Maximum requests that store parts of an artifact, repeated ones among them. */
export const RECEIVED_COUNT_MAX = 2 * ARTIFACT_PARTS_MAX;

/**
 * How many times the maximum size of an artifact may be received for it: parts may be sent again.
 */
export const RECEIVED_FACTOR = 2;
