import type { OpenCtx } from "../context.ts";

/** What a request carries before any route. */
export interface GitHttpEnv {
  Variables: {
    open: OpenCtx;
    requestId: string;
    /** What a later request shows to read no less than this one read; undefined before it read. */
    findBookmark: () => string | undefined;
  };
}
