import type { Ctx, OpenCtx } from "../context.ts";
import type { RepositoryEntry } from "../shapes/repository.ts";

/** What a request carries before any route. */
export interface GitHttpEnv {
  Variables: {
    open: OpenCtx;
    requestId: string;
    /** What a later request shows to read no less than this one read; undefined before it read. */
    findBookmark: () => string | undefined;
  };
}

/** Who asks for what, once that is allowed. */
export interface Visit {
  ctx: Ctx;
  entry: RepositoryEntry;
}
