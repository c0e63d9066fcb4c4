import { toDiscordMessage } from "../messages/discord.ts";
import { toFeishuMessage } from "../messages/feishu.ts";
import { toMatrixMessage } from "../messages/matrix.ts";
import { type Message, toMessage } from "../messages/message.ts";
import { toTeamsMessage } from "../messages/msteams.ts";
import { type SlackSettings, toSlackMessage } from "../messages/slack.ts";
import { toTelegramMessage } from "../messages/telegram.ts";
import type { Payload } from "../payloads/payload.ts";
import type { DeliveryTarget } from "./delivery-target.ts";

/** The properties of a hook that determine the contents of its requests. */
interface ContentForm extends Pick<DeliveryTarget, "type"> {
  /** For the type slack. */
  readonly slack?: SlackSettings | undefined;
}

const NO_SETTINGS: SlackSettings = { channel: "", username: "", iconUrl: "", color: "" };

/**
 * Formats a payload as the content that a hook receives: JSON, indented by two spaces. The content
 * is what is signed, and it stays the same on redelivery.
 *
 * @returns Undefined if the hook is a chat and the payload makes no message.
 */
export function formatContent(hook: ContentForm, payload: Payload): string | undefined {
  if (hook.type === "gitea" || hook.type === "gogs") return formatJson(payload.body);
  const message = toMessage(payload);
  return message && formatJson(CHATS[hook.type](message, hook.slack ?? NO_SETTINGS));
}

type Chat = Exclude<DeliveryTarget["type"], "gitea" | "gogs">;

const CHATS: Record<Chat, (message: Message, settings: SlackSettings) => object> = {
  slack: toSlackMessage,
  discord: toDiscordMessage,
  msteams: toTeamsMessage,
  telegram: toTelegramMessage,
  feishu: toFeishuMessage,
  matrix: toMatrixMessage,
};

const formatJson = (value: object): string => JSON.stringify(value, null, 2);
