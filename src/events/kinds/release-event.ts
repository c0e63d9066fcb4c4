import type { ReleasePayload } from "../../shapes/webhooks/release-payload.ts";

/** The release that an event is about. */
interface OfRelease {
  repoId: number;
  ownerId: number;
  releaseId: number;
  tagName: string;
}

/** Changes of published releases. Drafts record nothing: only writers know of them. */
export type ReleaseEvent =
  | (OfRelease & { type: "release.published" })
  | (OfRelease & {
      type: "release.updated";
      /** Whether its files changed, or anything else. */
      part: "assets" | "fields";
    })
  | (OfRelease & {
      type: "release.deleted";
      /** The payload for webhooks: the release can't be read any more. Removed once dispatched. */
      lastPayload: ReleasePayload;
    });
