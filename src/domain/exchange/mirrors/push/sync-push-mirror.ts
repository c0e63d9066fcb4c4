import { eq } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { type PushMirror, pushMirrors } from "../../../../db/schema/index.ts";
import { decodeText } from "../../../../git/byte-text.ts";
import { type PushedRemote, pushRemote } from "../../remotes/push-remote.ts";
import { RemoteFailure } from "../../../../outgoing/remote-failure.ts";
import { openMirrorRemote } from "../open-mirror.ts";
import { type MirrorKind, syncMirror } from "../sync-mirror.ts";

const PUSH_MIRRORS: MirrorKind<PushMirror> = {
  table: pushMirrors,
  isOne: (id) => eq(pushMirrors.id, id),
  async attempt(ctx, { mirror, repo }) {
    const remote = await openMirrorRemote(ctx, mirror);
    const { refused } = await pushRemote(ctx, repo, remote, { prune: true });
    const refusal = wordRefusals(refused);
    if (refusal !== undefined) throw new RemoteFailure("refused", refusal);
  },
  remoteName: ({ remoteName }) => remoteName,
  isAlwaysRetried: ({ syncsOnCommit }) => syncsOnCommit,
  toRest: () => [],
  toJob: (mirrorId) => ({ kind: "push-mirror", mirrorId }),
};

/** Synchronizes the remote of a push mirror with its repository. */
export const syncPushMirror = (ctx: Ctx, mirrorId: number): Promise<unknown> =>
  syncMirror(ctx, PUSH_MIRRORS, mirrorId);

/** Refused refs that the reason of a failure names. */
const REFUSALS_SHOWN = 10;

/** Undefined if the remote took everything. */
function wordRefusals(refused: PushedRemote["refused"]): string | undefined {
  if (refused.length === 0) return undefined;
  const shown = refused
    .slice(0, REFUSALS_SHOWN)
    .map(({ ref, reason }) => `${decodeText(ref)} (${reason})`)
    .join(", ");
  const rest = refused.length - REFUSALS_SHOWN;
  return `the remote refused ${shown}${rest > 0 ? ` and ${rest} more` : ""}`;
}
