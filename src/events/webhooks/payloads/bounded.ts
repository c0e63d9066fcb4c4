import { cutForJson } from "../../../lib/json-size.ts";
import type { Changes } from "../../../shapes/webhooks/issue-payloads.ts";

/**
 * Bytes of one text as JSON, and of the longest list of changed labels: a payload with all of them
 * stays below the 1.5 MB of one stored value.
 */
const TEXT_BYTES_MAX = 300_000;
const LABELS_MAX = 200;

export const boundText = (text: string): string => cutForJson(text, TEXT_BYTES_MAX);

export function boundChanges({ body, ...changes }: Changes): Changes {
  return {
    ...changes,
    ...(body && { body: { from: boundText(body.from) } }),
    added_labels: changes.added_labels?.slice(0, LABELS_MAX) ?? null,
    removed_labels: changes.removed_labels?.slice(0, LABELS_MAX) ?? null,
  };
}
