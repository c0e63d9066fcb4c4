import type { OpenCtx } from "../context.ts";

/** Variables set on every request before its route runs. */
export interface WebEnv {
  Variables: { open: OpenCtx; requestId: string; assets: Pick<Fetcher, "fetch"> };
}
