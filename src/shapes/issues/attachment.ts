import { z } from "@hono/zod-openapi";

import type { Attachment as AttachmentRow } from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { Int64, Time } from "../json.ts";
import type { Viewer } from "../viewer.ts";

export const Attachment = z
  .object({
    id: Int64,
    name: z.string(),
    size: Int64.openapi({ description: "In bytes" }),
    download_count: Int64,
    created_at: Time,
    uuid: z.string(),
    digest: z.string().openapi({
      description: "The hash of the bytes; empty for a file that was stored before there were any",
      example: "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
    }),
    browser_download_url: z.string().openapi({ format: "uri" }),
  })
  .openapi("Attachment");
export type Attachment = z.infer<typeof Attachment>;

/**
 * Formats a file of an issue or comment.
 *
 * @param url Where it is downloaded.
 */
export const toAttachment = (
  attachment: AttachmentRow,
  { rootUrl }: Viewer,
  url = `${rootUrl}/attachments/${attachment.uuid}`,
): Attachment => ({
  id: attachment.id,
  name: attachment.name,
  size: attachment.sizeBytes,
  download_count: attachment.downloadCount,
  created_at: formatTime(attachment.createdAt),
  uuid: attachment.uuid,
  digest: attachment.sha256 === "" ? "" : `sha256:${attachment.sha256}`,
  browser_download_url: url,
});
