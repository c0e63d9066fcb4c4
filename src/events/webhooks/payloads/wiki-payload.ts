import { toRepository } from "../../../shapes/repos/repository.ts";
import type { WikiPayload } from "../../../shapes/webhooks/wiki-payload.ts";
import type { PayloadContext } from "./payload-context.ts";
import { toSender } from "./receiver.ts";

export const toWikiPayload = (
  { repo, sender, viewer }: PayloadContext,
  { action, page, comment }: Pick<WikiPayload, "action" | "page" | "comment">,
): WikiPayload => ({
  action,
  repository: toRepository(repo, viewer),
  sender: toSender(sender, viewer),
  page,
  comment,
});
