import type { Context } from "hono";

import type { BaseCtx } from "../context.ts";

/** Variables set on every request before its route runs. */
export interface RegistryEnv {
  Variables: {
    base: BaseCtx;
    requestId: string;
  };
}

/** A request to a registry. Its path has the parameter `owner`. */
export type RegistryContext = Context<RegistryEnv>;
