import type { BaseCtx } from "../context.ts";

/** What a request carries before any route. */
export interface WebEnv {
  Variables: { base: BaseCtx; requestId: string; assets: Pick<Fetcher, "fetch"> };
}
