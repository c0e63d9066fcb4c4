import { Code, ConnectError, createContextKey, type HandlerContext } from "@connectrpc/connect";

import type { Ctx } from "../context.ts";
import {
  type RunnerCredential,
  runnerCredential,
} from "../domain/actions/runners/runner-credential.ts";
import { Failure, type FailureKind } from "../lib/failure.ts";
import { logBug } from "../lib/log.ts";

/** A call of a runner. */
interface Caller {
  readonly ctx: Ctx;
  readonly requestId: string;
  /** Whether its message was read: what can't be is the caller's fault. */
  isRead: boolean;
}

/** The key under which the values of a call have its context. */
export const CALLER = createContextKey<Caller | undefined>(undefined);

export function callerOf({ values }: HandlerContext): Caller {
  const caller = values.get(CALLER);
  if (!caller) throw new Error("a call without its context");
  return caller;
}

/** The headers by which a runner identifies itself. */
export const credentialOf = ({ requestHeader }: HandlerContext): Promise<RunnerCredential> =>
  runnerCredential(
    requestHeader.get("X-Runner-Uuid") ?? "",
    requestHeader.get("X-Runner-Token") ?? "",
  );

const CODES: Readonly<Record<FailureKind, Code>> = {
  malformed: Code.InvalidArgument,
  invalid: Code.InvalidArgument,
  unauthenticated: Code.Unauthenticated,
  forbidden: Code.PermissionDenied,
  not_found: Code.NotFound,
  not_applicable: Code.FailedPrecondition,
  conflict: Code.Aborted,
  gone: Code.NotFound,
  precondition: Code.FailedPrecondition,
  too_large: Code.ResourceExhausted,
  locked: Code.AlreadyExists,
  no_space: Code.ResourceExhausted,
  too_many: Code.ResourceExhausted,
};

/** Answers a call, and words refusals as Connect does. */
export async function answering<T>(
  context: HandlerContext,
  answer: (ctx: Ctx) => Promise<T>,
): Promise<T> {
  const caller = callerOf(context);
  const { ctx, requestId } = caller;
  caller.isRead = true;
  try {
    return await answer(ctx);
  } catch (error) {
    if (error instanceof Failure) throw new ConnectError(error.message, CODES[error.kind]);
    logBug(requestId, error);
    throw new ConnectError(`internal error, request ${requestId}`, Code.Internal);
  }
}
