import { z } from "@hono/zod-openapi";

/** The state of an issue, pull request or milestone. */
export const State = z.enum(["open", "closed"]).openapi("StateType");
export type State = z.infer<typeof State>;

export const stateOf = ({ isClosed }: { readonly isClosed: boolean }): State =>
  isClosed ? "closed" : "open";
