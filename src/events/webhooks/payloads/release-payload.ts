import { cutForJson } from "../../../lib/json-size.ts";
import { type ReleaseContext, toRelease } from "../../../shapes/releases/release.ts";
import { toRepository } from "../../../shapes/repos/repository.ts";
import type { ReleasePayload } from "../../../shapes/webhooks/release-payload.ts";
import type { PayloadContext } from "./payload-context.ts";
import { toSender } from "./receiver.ts";

/**
 * Bytes of the text as JSON: a payload with all files stays below the 1.5 MB of one stored value.
 */
const TEXT_BYTES_MAX = 300_000;

export function toReleasePayload(
  { repo, sender, viewer }: PayloadContext,
  action: ReleasePayload["action"],
  release: ReleaseContext,
): ReleasePayload {
  const shown = toRelease({ ...release, repo }, viewer);
  return {
    action,
    release: { ...shown, body: cutForJson(shown.body, TEXT_BYTES_MAX) },
    repository: toRepository(repo, viewer),
    sender: toSender(sender, viewer),
  };
}
