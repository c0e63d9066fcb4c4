import { z } from "@hono/zod-openapi";

import { HOOK_CONTENT_TYPES, HOOK_TYPES } from "../../db/schema/index.ts";
import type { HookOptions } from "../../domain/exchange/webhooks/hooks/hook-options.ts";
import { body, optionalFlag, optionalText, requiredText } from "../json-body.ts";
import { PathId } from "../path-id.ts";

/** The path parameters of a webhook that only needs its id. */
export const HookId = z.object({ id: PathId });

const URL_MAX = 2048;
const SECRET_MAX = 1024;
const HEADER_MAX = 4096;
const FILTER_MAX = 255;
const CHAT_MAX = 255;
/** Maximum names in a list of events; more than exist. */
const EVENTS_MAX = 100;

/** Unknown fields are ignored, since clients send fields of other forges. */
const Config = z
  .object({
    url: optionalText(URL_MAX).openapi({
      description: "The URL that deliveries are sent to, http or https",
    }),
    content_type: optionalText(32).openapi({
      description: `One of ${HOOK_CONTENT_TYPES.join(", ")}`,
    }),
    secret: optionalText(SECRET_MAX).openapi({
      description: "The key that signs deliveries; write-only. Empty to remove it",
    }),
    is_system_webhook: optionalText(8).openapi({
      description:
        "For /admin/hooks: whether the webhook fires for all repositories instead of being copied to new ones",
    }),
    channel: optionalText(CHAT_MAX).openapi({
      description: "The channel; required for type slack",
    }),
    username: optionalText(CHAT_MAX),
    icon_url: optionalText(URL_MAX),
    color: optionalText(32),
  })
  .openapi("CreateHookOptionConfig");

const changeable = {
  events: z
    .array(z.string().max(64))
    .max(EVENTS_MAX)
    .optional()
    .openapi({ description: "The events to subscribe to; push if empty" }),
  branch_filter: optionalText(FILTER_MAX).openapi({
    description: "A glob; events of branches that do not match are not delivered",
  }),
  authorization_header: optionalText(HEADER_MAX).openapi({
    description: "The Authorization header of each delivery; write-only. Empty to remove it",
  }),
  active: optionalFlag(),
};

export const CreateHook = body({
  type: requiredText(32).openapi({ description: `One of ${HOOK_TYPES.join(", ")}` }),
  config: Config,
  ...changeable,
}).openapi("CreateHookOption");

export const EditHook = body({
  config: Config.optional(),
  ...changeable,
}).openapi("EditHookOption");

/** The webhook options of a request body. */
export function toHookOptions({ config = {}, ...sent }: z.infer<typeof EditHook>): HookOptions {
  const { channel, username, icon_url: iconUrl, color } = config;
  return {
    url: config.url,
    contentType: config.content_type,
    secret: config.secret,
    authorization: sent.authorization_header,
    branchFilter: sent.branch_filter,
    events: sent.events,
    isActive: sent.active,
    chat: {
      ...(channel !== undefined && { channel }),
      ...(username !== undefined && { username }),
      ...(iconUrl !== undefined && { iconUrl }),
      ...(color !== undefined && { color }),
    },
  };
}
