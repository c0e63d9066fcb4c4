import { findPull } from "../../../domain/pulls/pull/find-pull.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { Action, Sent } from "./action.ts";

/** An action on a pull request. */
export const onPull =
  (act: (pull: PullContext, sent: Sent) => Promise<Awaited<ReturnType<Action>>>): Action =>
  async (sent) =>
    act(sent.pull ?? (await findPull(sent.ctx, sent.repo, sent.number)), sent);
