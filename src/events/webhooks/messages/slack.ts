import { formatColor, type Message } from "./message.ts";
import { type Notation, writeDetails, writeTitle } from "./write-pieces.ts";

/** Chat settings of a Slack hook. */
export interface SlackSettings {
  readonly channel: string;
  readonly username: string;
  readonly iconUrl: string;
  /** Colour of the bar beside a push; empty for a colour that depends on the event. */
  readonly color: string;
}

const TEXT_CHARS_MAX = 8000;

const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/**
 * SECURITY: an unescaped angle bracket could begin a mention of everyone; a bar in a URL would end
 * it.
 */
const NOTATION: Notation = {
  text: escape,
  link: (text, url) => `<${escape(url).replaceAll("|", "%7C")}|${escape(text)}>`,
};

/** @see https://docs.slack.dev/messaging/formatting-message-text */
export function toSlackMessage(message: Message, settings: SlackSettings) {
  const text = writeDetails(message, NOTATION, "\n", TEXT_CHARS_MAX);
  const color = settings.color || `#${formatColor(message.color)}`;
  return {
    channel: settings.channel,
    text: writeTitle(message, NOTATION),
    username: settings.username,
    icon_url: settings.iconUrl,
    unfurl_links: 0,
    link_names: 0,
    attachments:
      text === ""
        ? []
        : [
            {
              fallback: "",
              color,
              title: escape(message.source.name),
              title_link: message.source.url,
              text,
            },
          ],
  };
}
