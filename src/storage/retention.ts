/** Retention of a retired pack, in milliseconds: how long a slow clone may go on reading it. */
export const RETIRED_LIFE_MS = 24 * 60 * 60 * 1000;

/** Maximum duration of an upload, in milliseconds. A longer push is refused as expired. */
export const UPLOAD_LIFE_MS = 24 * 60 * 60 * 1000;

/**
 * How long a fork may be without a row in the database, in milliseconds: longer than any request
 * takes.
 */
export const FORK_ROW_MS = 60 * 60 * 1000;
