import type { BaseCtx } from "../context.ts";

/** Variables set on every request before its route runs. */
export interface WebEnv {
  Variables: {
    base: BaseCtx;
    requestId: string;
    assets: Pick<Fetcher, "fetch">;
    /** The bookmark of the database session of the request. */
    findBookmark: () => string | undefined;
  };
}
