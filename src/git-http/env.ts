import type { BaseCtx } from "../context.ts";

/** Variables set on every request before its route runs. */
export interface GitHttpEnv {
  Variables: {
    base: BaseCtx;
    requestId: string;
    /**
     * A D1 bookmark with which a later request sees at least the data of this one; undefined before
     * the first read.
     */
    findBookmark: () => string | undefined;
  };
}
