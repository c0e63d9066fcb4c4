import type { BaseCtx } from "../context.ts";

/** Variables set on every request before its route runs. */
export interface ActionsRunnerEnv {
  Variables: {
    base: BaseCtx;
    requestId: string;
  };
}
