import type { Ctx } from "../../../../context.ts";
import type { WebhookEventRow } from "../../../../db/schema/index.ts";
import type { StoredAttempt } from "./attempt.ts";

/** The content of a webhook event in an archive. */
export interface ArchivedEvent {
  readonly payload: object;
  /** The last attempts of its deliveries, by the ids of these. */
  readonly attempts: Readonly<Record<number, ArchivedAttempt>>;
}

/** The columns of an attempt that are archived. */
export const ARCHIVED_COLUMNS = [
  "requestUrl",
  "requestHeaders",
  "requestBody",
  "responseHeaders",
  "responseBody",
] as const satisfies readonly (keyof StoredAttempt)[];
type ArchivedAttempt = Pick<StoredAttempt, (typeof ARCHIVED_COLUMNS)[number]>;

/** The webhook events of an archive, by their ids. */
export type Archive = Readonly<Record<number, ArchivedEvent>>;

/**
 * Reads the content of a webhook event: from its row, or from the bucket once it is archived.
 *
 * @returns Undefined if the archive is past its retention.
 */
export async function readContent(
  { git }: Pick<Ctx, "git">,
  { id, payload, archive }: Pick<WebhookEventRow, "id" | "payload" | "archive">,
): Promise<ArchivedEvent | undefined> {
  if (archive === null) return { payload, attempts: {} };
  const text = await git.deliveryArchives.read(archive);
  return text === undefined ? undefined : (JSON.parse(text) as Archive)[id];
}
