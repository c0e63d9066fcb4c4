import { formatColor, type Message } from "./message.ts";
import { MARKDOWN, PLAIN, writeDetails, writePieces } from "./write-pieces.ts";

const TEXT_CHARS_MAX = 12_000;

/** @see https://learn.microsoft.com/outlook/actionable-messages/message-card-reference */
export function toTeamsMessage(message: Message) {
  const { sender, source, url } = message;
  const title = writePieces(message.title, PLAIN);
  return {
    "@type": "MessageCard",
    "@context": "https://schema.org/extensions",
    themeColor: formatColor(message.color),
    title,
    summary: title,
    sections: [
      {
        activityTitle: MARKDOWN.text(sender.full_name || sender.login),
        activitySubtitle: MARKDOWN.text(sender.login),
        activityImage: sender.avatar_url,
        facts: [{ name: `${source.kind}:`, value: MARKDOWN.text(source.name) }],
        text: writeDetails(message, MARKDOWN, "\n\n", TEXT_CHARS_MAX),
      },
    ],
    potentialAction: [{ "@type": "OpenUri", name: "View", targets: [{ os: "default", uri: url }] }],
  };
}
