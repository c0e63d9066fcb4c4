import type { BaseCtx } from "../context.ts";

/** What a request carries before any route. */
export interface GitHttpEnv {
  Variables: {
    base: BaseCtx;
    requestId: string;
    /** What a later request shows to read no less than this one read; undefined before it read. */
    findBookmark: () => string | undefined;
  };
}
