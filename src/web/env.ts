import type { OpenCtx } from "../context.ts";

/** What a request carries before any route. */
export interface WebEnv {
  Variables: { open: OpenCtx; requestId: string; assets: Pick<Fetcher, "fetch"> };
}
