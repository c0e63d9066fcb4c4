import { Nothing } from "./common-fields.ts";

export const SOCIAL_PAYLOADS = {
  "star.created": Nothing,
  "star.deleted": Nothing,
  "watch.created": Nothing,
  "watch.deleted": Nothing,
  "follow.created": Nothing,
  "follow.deleted": Nothing,
} as const;
