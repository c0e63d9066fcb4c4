import type { Context } from "hono";

import { ANONYMOUS } from "../../auth/actor.ts";
import type { Ctx } from "../../context.ts";
import {
  type ArtifactTask,
  findArtifactTask,
} from "../../domain/actions/artifacts/find-artifact-task.ts";
import { unauthenticated } from "../../lib/failure.ts";
import type { ActionsRunnerEnv } from "../env.ts";

/** Routes that get the variables of a request as their bindings, since they are loaded late. */
export interface ArtifactsEnv {
  Bindings: ActionsRunnerEnv["Variables"];
}

export type ArtifactsContext = Context<ArtifactsEnv>;

export const ctxOf = (c: ArtifactsContext): Ctx => ({ ...c.env.base, actor: ANONYMOUS });

/**
 * The task whose runtime token a request has.
 *
 * @throws Failure `unauthenticated`.
 */
export async function taskOf(c: ArtifactsContext, ctx: Ctx): Promise<ArtifactTask> {
  const token = /^bearer +(\S+)$/i.exec(c.req.header("authorization") ?? "")?.[1];
  if (token === undefined) throw unauthenticated("the request has no runtime token");
  return findArtifactTask(ctx, token);
}
