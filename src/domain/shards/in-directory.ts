import type { Ctx } from "../../context.ts";

/** The context of a change of the first database that is made on the way of a repository: its event is in the same batch. */
export const inDirectory = (ctx: Ctx): Ctx =>
  ctx.db === ctx.directory ? ctx : { ...ctx, db: ctx.directory };
