import type { BaseCtx } from "../context.ts";

/** Variables set on every request before its route runs. */
export interface WebEnv {
  Variables: {
    base: BaseCtx;
    requestId: string;
    assets: Pick<Fetcher, "fetch">;
    /** The bookmark of what the request has written; undefined if that is nothing. */
    findWriteBookmark: () => string | undefined;
  };
}
