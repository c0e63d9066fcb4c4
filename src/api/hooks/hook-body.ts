import { z } from "@hono/zod-openapi";

import { HOOK_CONTENT_TYPES, HOOK_TYPES } from "../../db/schema/index.ts";
import type { HookOptions } from "../../domain/webhooks/hooks/hook-options.ts";
import { body, optionalFlag, optionalText, requiredText } from "../json-body.ts";
import { PathId } from "../path-id.ts";

/** The id of a hook, for paths that have no other part. */
export const HookId = z.object({ id: PathId });

const URL_MAX = 2048;
const SECRET_MAX = 1024;
const HEADER_MAX = 4096;
const FILTER_MAX = 255;
const CHAT_MAX = 255;
/** Names in a list of events at most: more than there are. */
const EVENTS_MAX = 100;

/** Whatever else stands in it is passed over, as clients send what other forges know. */
const Config = z
  .object(
    {
      url: optionalText(URL_MAX).openapi({ description: "Where to, by http or https" }),
      content_type: optionalText(32).openapi({
        description: `One of ${HOOK_CONTENT_TYPES.join(", ")}`,
      }),
      secret: optionalText(SECRET_MAX).openapi({
        description: "Signs deliveries; never told again. Empty for none",
      }),
      is_system_webhook: optionalText(8).openapi({
        description: "Of a hook of the service: whether it fires for all repositories",
      }),
      channel: optionalText(CHAT_MAX).openapi({ description: "Required for slack" }),
      username: optionalText(CHAT_MAX),
      icon_url: optionalText(URL_MAX),
      color: optionalText(32),
    },
    "an object is expected",
  )
  .openapi("CreateHookOptionConfig");

const changeable = {
  events: z
    .array(z.string("a text is expected").max(64, "MaxSize"), "a list is expected")
    .max(EVENTS_MAX, "MaxSize")
    .optional()
    .openapi({ description: "Pushes, where it is empty" }),
  branch_filter: optionalText(FILTER_MAX).openapi({
    description: "A glob; of branches it does not match the hook is not told",
  }),
  authorization_header: optionalText(HEADER_MAX).openapi({
    description: "Goes with each delivery; never told again. Empty for none",
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

/** What a body asks of a hook. */
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
